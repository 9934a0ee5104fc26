/** Three users and a stranger: one owns an account, which the others may have a share of. */
import { openDatabase } from '../../src/database/database.ts'
import type { Client } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

export const phones = {
  owner: '+14155557101',
  developer: '+14155557102',
  viewer: '+14155557103',
  stranger: '+14155557104',
  support: '+14155557105',
  late: '+14155557106',
}

export async function sharingRig(t: Parameters<typeof startService>[0]) {
  const service = await startService(t, {
    env: { SUPPORT_PHONES: phones.support, ALLOW_PRIVATE_URLS: '1' },
  })
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const owner = await service.client(phones.owner)
  const developer = await service.client(phones.developer)
  const viewer = await service.client(phones.viewer)
  const stranger = await service.client(phones.stranger)
  const idOf = async (client: Client): Promise<number> =>
    (await client.result('GET', '/user')).user_id
  const [ownerId, developerId] = [await idOf(owner), await idOf(developer)]
  const person = await owner.person('Shared', 'shared_bot')
  const account = await owner.link(person)
  const path = `/platforms/credentials/${account}`
  const invite = (phone: string, role: string) =>
    owner.ask('POST', `${path}/shares`, { phone, role })
  /** Invites, and accepts; resolves with the id of the share. */
  async function share(client: Client, phone: string, role: string): Promise<number> {
    const { share_id } = (await invite(phone, role)).body.result
    await client.result('POST', `/shares/${share_id}/accept`)
    return share_id
  }
  const keyOf = (client: Client, name = 'made') =>
    client.result('POST', '/api_keys', {
      name,
      credential_id: account,
      scopes: ['bot:send', 'bot:receive'],
    })
  const opens = async (key: string) => (await owner.bot(key, 'getMe')).status
  return {
    ...{ service, db, owner, developer, viewer, stranger, ownerId, developerId },
    ...{ person, account, path, invite, share, keyOf, opens },
  }
}
