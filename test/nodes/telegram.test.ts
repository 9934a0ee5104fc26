/** An account of Telegram, whose key ends for good when two nodes use it at once, while its owner is killed, frozen and stopped. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Client, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { serverKey } from '../support/telegram-dc/crypto.ts'
import { TelegramNetwork } from '../support/telegram-dc/network.ts'
import type { Person } from '../support/telegram-dc/people.ts'
import { startRemote } from './remote-service.ts'

const PATIENCE_MS = 60_000

interface Scene {
  readonly network: TelegramNetwork
  readonly person: Person
  readonly friend: Person
  readonly owner: Awaited<ReturnType<typeof startRemote>>
  /** Signed in at the node that stays. */
  readonly client: Client
  readonly key: string
  node(): Promise<string>
}

let phones = 9701

/** Two nodes, of which the first owns the account. */
async function twoNodes(t: Test): Promise<Scene> {
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
  const { session_id } = await signedIn.result('POST', '/platforms/telegram/link/start', {
    phone: `+${person.phone}`,
  })
  const answer = { session_id, otp: person.code }
  const linked = await signedIn.result('POST', '/platforms/telegram/link/verify', answer)
  const { credential_id } = linked.credential
  await signedIn.state(credential_id, 'active')
  const { key } = await signedIn.key(credential_id)
  const other = await start('other', 1_002, { DATA_DIR: owner.dataDir })
  const client = signedIn.at(other.url)
  const node = async () =>
    (await client.result('GET', `/platforms/credentials/${credential_id}`)).node
  return { network, person, friend, owner, client, key, node }
}

async function arrives({ network, friend, client, key }: Scene, text: string) {
  const answer = await client.bot(key, 'sendMessage', { chat_id: friend.id, text })
  if (!answer.body.ok) throw new Error(JSON.stringify(answer.body))
  const isThere = () =>
    [...friend.messages.values()].some((one) => 'message' in one && one.message === text)
  await network.until(() => (isThere() ? true : undefined), AbortSignal.timeout(PATIENCE_MS))
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  t.test(`${signal}: the next owner opens a session only after the one before`, async (t) => {
    t.setTimeout(180_000)
    const scene = await twoNodes(t)
    const { network, person, owner } = scene
    await arrives(scene, 'before')
    const began = performance.now()
    const ended = owner.end(signal)
    await arrives(scene, 'after')
    t.comment(`sent by the next owner ${Math.round(performance.now() - began)} ms after ${signal}`)
    await ended
    t.notOk(network.isDuplicated(person))
    t.equal(await scene.node(), 'other')
    t.same(network.defects, [])
  })
}

t.test(
  'a frozen owner that wakes up says nothing with a key that is not its own any more',
  async (t) => {
    t.setTimeout(240_000)
    const scene = await twoNodes(t)
    const { network, person, friend, owner } = scene
    await arrives(scene, 'before')
    owner.signal('SIGSTOP')
    const began = performance.now()
    // Its connection stands, and brings it something to confirm.
    network.delivery.send(friend, person, { message: 'said to a frozen one' })
    await until(async () => (await scene.node()) === 'other', PATIENCE_MS)
    await arrives(scene, 'after')
    t.comment(`sent by the next owner ${Math.round(performance.now() - began)} ms after SIGSTOP`)
    network.delivery.send(friend, person, { message: 'said to both' })
    owner.signal('SIGCONT')
    // Long enough for what it would have confirmed, and for its connections to be closed.
    await until(
      () => network.connectionsOf(person).every(({ client }) => client === 1_002),
      PATIENCE_MS,
    )
    await pause(1_000)
    t.notOk(network.isDuplicated(person))
    await arrives(scene, 'at last')
    t.same(network.defects, [])
  },
)
