/** An account of Telegram on two nodes, of which the first owns it. Its key ends for good when two clients use it at once. */
import type { Test } from 'tap'
import type { Client } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { serverKey } from '../support/telegram-dc/crypto.ts'
import { TelegramNetwork } from '../support/telegram-dc/network.ts'
import type { Person } from '../support/telegram-dc/people.ts'
import { startRemote } from './remote-service.ts'

export const PATIENCE_MS = 60_000

interface Scene {
  readonly network: TelegramNetwork
  readonly person: Person
  readonly friend: Person
  readonly owner: Awaited<ReturnType<typeof startRemote>>
  /** Signed in at the node that stays. */
  readonly client: Client
  readonly key: string
  node(): Promise<string>
  /** Links the account at the node that is asked: the first time, or again. */
  link(client: Client): Promise<number>
}

let phones = 9701

/** Two nodes, of which the first owns the account. */
export async function twoNodes(t: Test): Promise<Scene> {
  const { url: databaseUrl } = await testDatabase(t)
  const network = await TelegramNetwork.start(t)
  const entry = 'telegram-process.ts'
  const env = {
    TELEGRAM_ENTRANCE: JSON.stringify(network.entrance),
    TELEGRAM_KEY: (await serverKey()).pem,
    HOLD_MS: '30000',
  }
  const start = (name: string, id: number, more: object = {}) =>
    startRemote(t, {
      databaseUrl,
      name,
      entry,
      env: { ...env, ...more, TELEGRAM_CLIENT: `${id}` },
    })
  const owner = await start('owner', 1_001)
  const signedIn = await owner.client(`+1415555${phones++}`)
  const person = network.person()
  const friend = network.person()
  const link = async (client: Client): Promise<number> => {
    const phone = `+${person.phone}`
    const { session_id } = await client.result('POST', '/platforms/telegram/link/start', { phone })
    const answer = { session_id, otp: person.code }
    const linked = await client.result('POST', '/platforms/telegram/link/verify', answer)
    return linked.credential.credential_id
  }
  const credential_id = await link(signedIn)
  await signedIn.state(credential_id, 'active')
  const { key } = await signedIn.key(credential_id)
  const other = await start('other', 1_002, { DATA_DIR: owner.dataDir })
  const client = signedIn.at(other.url)
  const node = async () =>
    (await client.result('GET', `/platforms/credentials/${credential_id}`)).node
  return { network, person, friend, owner, client, key, node, link }
}

export async function arrives({ network, friend, client, key }: Scene, text: string) {
  const answer = await client.bot(key, 'sendMessage', { chat_id: friend.id, text })
  if (!answer.body.ok) throw new Error(JSON.stringify(answer.body))
  const isThere = () =>
    [...friend.messages.values()].some((one) => 'message' in one && one.message === text)
  await network.until(() => (isThere() ? true : undefined), AbortSignal.timeout(PATIENCE_MS))
}
