/** How accounts are let go: deletions that a stop cuts short, sessions that a new link replaces, secrets lost. */
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import { openDatabase } from '../../src/database/database.ts'
import { forgetLinks } from '../../src/links/store.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { refused, troubledAccount } from './scene.ts'

const service = await startService(t)
const account = (name: string) => troubledAccount(service, name)
const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => db.close())

/** As the owner of the credential does, whichever node that is. */
async function saveDeletion(credentialId: number): Promise<void> {
  const [row] = await db.query('select epoch from credential where id = $1', [credentialId])
  const { epoch } = row as { epoch: number }
  await service.gateway.core.store.saveDeletion({ credentialId, epoch })
}

t.test('a deletion that was only stored is carried out after a restart', async (t) => {
  const { client, bot, credentialId, keyId, key, path } = await account('leaving_bot')
  await saveDeletion(credentialId)
  t.match(await client.ask('GET', path), refused(404, 'Not Found'))
  await service.restart()
  await until(async () => {
    const person = await client.result('GET', `/sandbox/people/${bot.id}`)
    return person.linked_sessions === 0
  })
  await until(async () => (await client.result('GET', `/api_keys/${keyId}`)).revoked_at !== null)
  t.match(await client.bot(key, 'getMe'), refused(401, 'Unauthorized'))
  const [row] = await until(async () => {
    const rows = await db.query('select * from credential where id = $1', [credentialId])
    return (rows[0] as { deactivated_at: unknown }).deactivated_at !== null && rows
  })
  t.match(row, { secrets: null, state: 'deactivated' })
  t.same((await client.result('GET', '/platforms/credentials')).items, [])
})

t.test('an account that is deleted leaves nothing in the process', async (t) => {
  const { client, credentialId, path, write, send } = await account('forgotten_bot')
  await write('something to keep')
  t.match(await send(), { status: 200 })
  const { updates } = service.gateway.core
  t.ok(updates.next(credentialId) > 0)
  await client.result('DELETE', path)
  await until(() => {
    try {
      return updates.next(credentialId) < 0
    } catch (cause) {
      return cause instanceof RequestFailed && cause.failure.reason === 'starting'
    }
  })
})

t.test('an account is linked anew while its deletion is still under way', async (t) => {
  const { client, bot, credentialId } = await account('returning_bot')
  await saveDeletion(credentialId)
  t.not(await client.link(bot), credentialId)
})

t.test('linking again signs the old session out on the network', async (t) => {
  const { client, bot, credentialId, send } = await account('renewed_bot')
  t.equal(await client.link(bot), credentialId)
  const person = () => client.result('GET', `/sandbox/people/${bot.id}`)
  await until(async () => (await person()).linked_sessions === 1)
  t.match(await send(), { status: 200 })
})

t.test('secrets that cannot be decrypted make the credential invalid', async (t) => {
  const { client, path, credentialId, state, send, bot } = await account('garbled_bot')
  await db.query(`update credential set secrets = '\\x00112233' where id = $1`, [credentialId])
  t.match(await client.ask('POST', `${path}/restart`), { status: 200 })
  t.match(await state('invalid'), { reason: 'secrets_unreadable' })
  t.match((await send()).body.error_code, 403)
  t.equal(await client.link(bot), credentialId, 'a new link brings it back')
  t.match(await send(), { status: 200 })
})

t.test('of a link session not even its name is left a week later', async (t) => {
  const { client } = await account('forgotten_bot')
  const start = async () => {
    const { phone } = await client.person('Ivy')
    return (await client.result('POST', '/platforms/sandbox/link/start', { phone })).session_id
  }
  const [over, old] = [await start(), await start()]
  const age = (id: string, interval: string) =>
    db.query('update link_session set expires_at = now() - $2::interval where id = $1', [
      id,
      interval,
    ])
  await age(over, '6 days')
  await age(old, '8 days')
  await forgetLinks(db)
  const left = 'select id from link_session where id = any($1)'
  t.same(await db.query(left, [[over, old]]), [{ id: over }])
})
