/** A message through each network, against the same by its client library without the service: processor time and rate. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Prosody, prosodyMissing } from '../test/support/prosody.ts'
import { type Child, startChild } from './support/child.ts'
import { post, sendAll } from './support/connection.ts'
import { atMost, type Finding } from './support/finding.ts'
import { seedCredentials, seedKeys, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, now, percentile, perSecond } from './support/statistics.ts'
import { linkTelegram, type Person, type TelegramAddress } from './support/telegram.ts'
import { linkXmpp } from './support/xmpp.ts'

const AT_ONCE = 32
const MESSAGES = 1_600
/** As many messages as a turn: after one, a send takes 1.5 times the processor time that it takes once all its code is compiled. */
const WARM_UPS = 6
const TURNS = 5
const ARRIVES_MS = 60_000
const PASSWORD = 'of the benchmark'

/** One way between a bot and its network. */
interface Way {
  readonly process: Child
  /** Resolves once so many messages were sent, `AT_ONCE` at a time. */
  send(count: number): Promise<void>
  /** Resolves once so many messages have come. */
  receive(count: number): Promise<void>
}

interface Network {
  readonly name: string
  readonly ours: Way
  readonly bare: Way
  /** The library where it takes a message for sent before the server has it, as nothing of ours does. */
  readonly unconfirmed?: Way
  /** The library again, which stores updates before it acknowledges them: every service has to do that. */
  readonly storing?: Way
  /** Processor time of ours over that of the library, for a message out and in. */
  readonly targets: { readonly sent: number; readonly received: number }
}

const processOf = (name: string) => startChild(join(import.meta.dirname, `support/${name}.ts`))

export async function networks(stage: Stage): Promise<Finding[]> {
  const found: Finding[] = []
  for (const [name, open] of Object.entries({ Telegram: telegram, XMPP: xmpp, bots })) {
    if (stage.options.network !== undefined && stage.options.network !== name) continue
    await using opened = new AsyncDisposableStack()
    const network = await open(stage, opened)
    found.push(...(typeof network === 'string' ? [notRun(network)] : await measure(stage, network)))
  }
  return found
}

const notRun = (reason: string): Finding => ({ what: 'XMPP', ours: `not run: ${reason}` })

/** Milliseconds for each message: on the clock, and of the process. */
interface Cost {
  readonly clock: number
  readonly processor: number
}

interface Turn {
  readonly ours: Cost
  readonly bare: Cost
}

async function measure(stage: Stage, network: Network): Promise<Finding[]> {
  const { name, ours, bare, unconfirmed, storing, targets } = network
  const steps = ['send', 'receive'] as const
  for (let turn = 0; turn < WARM_UPS; turn++) {
    for (const way of [ours, bare]) for (const step of steps) await way[step](MESSAGES)
  }
  await storing?.receive(MESSAGES)
  const turns: Record<(typeof steps)[number] | 'unconfirmed' | 'storing', Turn[]> = {
    send: [],
    receive: [],
    unconfirmed: [],
    storing: [],
  }
  // In turn, so that whatever else the machine does meets both alike.
  for (let turn = 1; turn <= TURNS; turn++) {
    for (const step of steps) {
      turns[step].push({ ours: await costOf(ours, step), bare: await costOf(bare, step) })
    }
    const [sent] = turns.send.slice(-1)
    if (unconfirmed && sent) {
      turns.unconfirmed.push({ ...sent, bare: await costOf(unconfirmed, 'send') })
    }
    const [received] = turns.receive.slice(-1)
    if (storing && received) {
      turns.storing.push({ ...received, bare: await costOf(storing, 'receive') })
    }
    stage.note(`${name}: turn ${turn} of ${TURNS}`)
  }
  return [
    ...findings(`${name}: send, ${AT_ONCE} at once`, turns.send, targets.sent),
    ...(unconfirmed
      ? findings('  against one that waits for no server', turns.unconfirmed, targets.sent)
      : []),
    ...findings(`${name}: receive a flood`, turns.receive, targets.received),
    ...(storing ? findings(`${name}: the same, and bare stores it too`, turns.storing) : []),
  ]
}

async function costOf(way: Way, step: 'send' | 'receive'): Promise<Cost> {
  const [began, worked] = [now(), await way.process.ask<number>('processor')]
  await way[step](MESSAGES)
  const clock = (now() - began) / MESSAGES
  return { clock, processor: ((await way.process.ask<number>('processor')) - worked) / MESSAGES }
}

function findings(what: string, turns: readonly Turn[], target?: number): Finding[] {
  const median = (side: 'ours' | 'bare', cost: keyof Cost) =>
    percentile(
      turns.map((turn) => turn[side][cost]),
      0.5,
    )
  const rate = (side: 'ours' | 'bare') => perSecond(1_000 / median(side, 'clock'), 'messages')
  const [processor, bareProcessor] = [median('ours', 'processor'), median('bare', 'processor')]
  return [
    {
      what: `${what}: processor time of the process for each`,
      ours: microseconds(processor),
      bare: microseconds(bareProcessor),
      ratio: processor / bareProcessor,
      ...(target !== undefined && atMost(processor, bareProcessor, target)),
    },
    { what: '  the rate', ours: rate('ours'), bare: rate('bare') },
  ]
}

/**
 * The service as a way: its bot calls over `AT_ONCE` connections; updates count once they are stored. `arrived` resolves once
 * the other side has so many more messages, where an answer does not show it.
 */
function through(
  stage: Stage,
  service: Service,
  account: { readonly credentialId: number; readonly key: string; readonly chatId: number },
  arrive: (count: number) => Promise<unknown>,
  arrived: (count: number) => Promise<unknown> = async () => undefined,
): Way {
  const body = { chat_id: account.chatId, text: 'The quick brown fox jumps over the lazy dog.' }
  const request = Buffer.from(post(`/bot${account.key}/sendMessage`, body))
  return {
    process: service,
    async send(count) {
      const each = Array.from({ length: count / AT_ONCE }, () => request)
      const all = arrived(count)
      await sendAll(
        service.port,
        Array.from({ length: AT_ONCE }, () => each),
      )
      await all
    },
    async receive(count) {
      const before = (await latest(stage, account.credentialId)).updates
      await arrive(count)
      await stored(stage, account.credentialId, before + count)
    },
  }
}

async function latest({ sql }: Stage, credentialId: number) {
  const { rows } = await sql.query<{ updates: number; chat: number | null }>(
    'select count(*)::int as updates, max(chat_id) as chat from update_log where credential_id = $1',
    [credentialId],
  )
  return rows[0] ?? { updates: 0, chat: null }
}

/** Resolves with the chat of the newest one. */
async function stored(stage: Stage, credentialId: number, count: number): Promise<number> {
  const limit = now() + ARRIVES_MS
  for (;;) {
    const { updates, chat } = await latest(stage, credentialId)
    if (updates >= count) return Number(chat)
    if (now() > limit) throw new Error(`${updates} of ${count} messages were stored`)
    await pause(10)
  }
}

async function telegram(stage: Stage, opened: AsyncDisposableStack): Promise<Network> {
  const network = processOf('telegram-network-process')
  opened.defer(() => network.stop())
  const address = await network.ask<TelegramAddress>('start')
  const [linked, friend, alone] = await Promise.all(
    Array.from({ length: 3 }, () => network.ask<Person>('person')),
  )
  if (!linked || !friend || !alone) throw new Error('there are too few people')
  const account = await linkTelegram(stage, network, address, linked)
  const userId = await seedUser(stage)
  const [credentialId = 0] = await seedCredentials(stage, userId, 'telegram', [account])
  const [key = ''] = await seedKeys(stage, userId, [credentialId])
  const service = await startService(stage, {}, [], address)
  opened.defer(() => service.stop())
  await service.ask('online', 1)
  const bare = processOf('bare-telegram-process')
  opened.defer(() => bare.stop())
  await bare.ask('start', address)
  await bare.ask('begin', alone.phone)
  await bare.ask('finish', await network.ask('codeOf', alone.id))

  const write = (to: Person, count: number) =>
    network.ask('write', { to: to.id, from: friend.id, count })
  const receive = async (count: number) => {
    const all = bare.ask('expect', count)
    await write(alone, count)
    await all
  }
  // Whoever was written by somebody can answer them.
  await receive(1)
  await write(linked, 1)
  const chatId = await stored(stage, credentialId, 1)
  return {
    name: 'Telegram',
    ours: through(stage, service, { credentialId, key, chatId }, (count) => write(linked, count)),
    bare: {
      process: bare,
      send: (count) => bare.ask('send', { to: `${friend.id}`, count, atOnce: AT_ONCE }),
      receive,
    },
    targets: { sent: 2.2, received: 1.5 },
  }
}

async function xmpp(stage: Stage, opened: AsyncDisposableStack): Promise<Network | string> {
  if (prosodyMissing) return prosodyMissing
  const prosody = await Prosody.start({ quickArchive: true })
  opened.defer(() => prosody.stop())
  const { domain, server } = prosody
  await prosody.seed(['linked', 'friend', 'alone'], PASSWORD)
  const account = await linkXmpp(prosody, 'linked', PASSWORD)
  const userId = await seedUser(stage)
  const [credentialId = 0] = await seedCredentials(stage, userId, 'xmpp', [account])
  const [key = ''] = await seedKeys(stage, userId, [credentialId])
  const service = await startService(stage)
  opened.defer(() => service.stop())
  await service.ask('online', 1)
  const clients = new Map<string, Child>()
  for (const username of ['friend', 'alone']) {
    const client = processOf('bare-xmpp-process')
    opened.defer(() => client.stop())
    await client.ask('start', { service: server, domain, username, password: PASSWORD })
    clients.set(username, client)
  }
  const client = (username: string) => clients.get(username) as Child
  const write = (to: string, count: number) =>
    client('friend').ask('send', { to: `${to}@${domain}`, count, atOnce: AT_ONCE })
  await write('linked', 1)
  const chatId = await stored(stage, credentialId, 1)
  // The library does not wait for the server, which would still be busy with these messages in the next turn.
  const arrived = (count: number) => client('friend').ask('expect', count)
  const linked = { credentialId, key, chatId }
  const alone = (command: 'send' | 'sendSafely'): Way => ({
    process: client('alone'),
    async send(count) {
      const all = arrived(count)
      await client('alone').ask(command, { to: `friend@${domain}`, count, atOnce: AT_ONCE })
      await all
    },
    async receive(count) {
      const all = client('alone').ask('expect', count)
      await write('alone', count)
      await all
    },
  })
  return {
    name: 'XMPP',
    ours: through(stage, service, linked, (count) => write('linked', count), arrived),
    bare: alone('sendSafely'),
    unconfirmed: alone('send'),
    targets: { sent: 12, received: 2 },
  }
}

async function bots(stage: Stage, opened: AsyncDisposableStack): Promise<Network> {
  const upstream = processOf('upstream-process')
  opened.defer(() => upstream.stop())
  const port = await upstream.ask<number>('start')
  const [linked, alone, storing] = ['1001', '1002', '1003'].map((id) => `${id}:${'a'.repeat(35)}`)
  const userId = await seedUser(stage)
  const account = { native: '1001', firstName: 'Bot', secrets: { token: linked } }
  const [credentialId = 0] = await seedCredentials(stage, userId, 'telegram-bot', [account])
  const [key = ''] = await seedKeys(stage, userId, [credentialId])
  const service = await startService(stage, { TELEGRAM_BOT_API_URL: `http://127.0.0.1:${port}` })
  opened.defer(() => service.stop())
  await service.ask('online', 1)
  const flood = (token: string | undefined, count: number) =>
    upstream.ask('flood', { token, count })
  const bareBot = async (token: string | undefined, databaseUrl?: string): Promise<Way> => {
    const bare = processOf('bare-bot-process')
    opened.defer(() => bare.stop())
    await bare.ask('start', { port, token, databaseUrl })
    return {
      process: bare,
      send: (count) => bare.ask('send', { to: '42', count, atOnce: AT_ONCE }),
      async receive(count) {
        const all = bare.ask('expect', count)
        await flood(token, count)
        await all
      },
    }
  }
  return {
    name: 'telegram-bot',
    ours: through(stage, service, { credentialId, key, chatId: 42 }, (count) =>
      flood(linked, count),
    ),
    bare: await bareBot(alone),
    storing: await bareBot(storing, stage.databaseUrl),
    targets: { sent: 3, received: 3 },
  }
}
