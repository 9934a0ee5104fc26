/** A message through each network, against the same by its client library without the service: processor time and rate. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Prosody, prosodyMissing } from '../test/support/prosody.ts'
import { type Child, startChild } from './support/child.ts'
import { Connection, post, sendAll } from './support/connection.ts'
import { atMost, type Finding } from './support/finding.ts'
import { TEXT } from './support/load.ts'
import { seedCredentials, seedKeys, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, milliseconds, now, percentile, perSecond } from './support/statistics.ts'
import { linkTelegram, type Person, type TelegramAddress } from './support/telegram.ts'
import { linkXmpp } from './support/xmpp.ts'

const AT_ONCE = 32
const MESSAGES = 1_600
/** As many messages as a turn: after one, a send takes 1.5 times the processor time that it takes once all its code is compiled. */
const WARM_UPS = 6
const TURNS = 5
/** Of messages that are sent one at a time, and how many of them. */
const LONE_TURNS = 12
const LONE_MESSAGES = 30
const LONE_RATIO = 2
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
  /** Of a message that is sent alone. */
  readonly lone?: Lone
  /** Processor time of ours over that of the library, for a message out and in. */
  readonly targets: { readonly sent: number; readonly received: number }
}

/** Each sends one message, and resolves with the milliseconds until its peer has it. */
interface Lone {
  readonly ours: Deliver
  /** The library with words alone, and with all that a message of the service has. */
  readonly words: Deliver
  readonly same: Deliver
  close(): void
}

type Deliver = () => Promise<number>

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
    ...(network.lone ? await arrivals(name, network.lone) : []),
  ]
}

/** The ratios are medians of those of turns that follow each other. */
async function arrivals(name: string, lone: Lone): Promise<Finding[]> {
  const turns: Record<'ours' | 'words' | 'same', number>[] = []
  for (let turn = -1; turn < LONE_TURNS; turn++) {
    const ours = await medianOf(lone.ours)
    const played = { ours, words: await medianOf(lone.words), same: await medianOf(lone.same) }
    if (turn >= 0) turns.push(played)
  }
  lone.close()
  const middle = (values: readonly number[]) => percentile(values, 0.5)
  const against = (side: 'words' | 'same') => ({
    ours: milliseconds(middle(turns.map(({ ours }) => ours))),
    bare: milliseconds(middle(turns.map((turn) => turn[side]))),
    ratio: middle(turns.map((turn) => turn.ours / turn[side])),
  })
  const words = against('words')
  const what = `${name}: one at a time, until the peer has it (p50)`
  return [
    { what, ...words, target: `≤ ${LONE_RATIO}`, met: words.ratio <= LONE_RATIO },
    { what: '  where bare sends the same message', ...against('same') },
  ]
}

async function medianOf(deliver: Deliver): Promise<number> {
  const took: number[] = []
  while (took.length < LONE_MESSAGES) took.push(await deliver())
  return percentile(took, 0.5)
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

function requestOf({ key, chatId }: { readonly key: string; readonly chatId: number }): Buffer {
  return Buffer.from(post(`/bot${key}/sendMessage`, { chat_id: chatId, text: TEXT }))
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
  const request = requestOf(account)
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
  await prosody.seed(['linked', 'friend', 'alone', 'storing'], PASSWORD)
  const account = await linkXmpp(prosody, 'linked', PASSWORD)
  const userId = await seedUser(stage)
  const [credentialId = 0] = await seedCredentials(stage, userId, 'xmpp', [account])
  const [key = ''] = await seedKeys(stage, userId, [credentialId])
  const service = await startService(stage)
  opened.defer(() => service.stop())
  await service.ask('online', 1)
  const clients = new Map<string, Child>()
  for (const username of ['friend', 'alone', 'storing']) {
    const client = processOf('bare-xmpp-process')
    opened.defer(() => client.stop())
    const stores = username === 'storing' && { databaseUrl: stage.databaseUrl }
    const login = { service: server, domain, username, password: PASSWORD, ...stores }
    await client.ask('start', login)
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
  const bare = (username: string, command: 'send' | 'sendSafely'): Way => ({
    process: client(username),
    async send(count) {
      const all = arrived(count)
      await client(username).ask(command, { to: `friend@${domain}`, count, atOnce: AT_ONCE })
      await all
    },
    async receive(count) {
      const all = client(username).ask('expect', count)
      await write(username, count)
      await all
    },
  })
  return {
    name: 'XMPP',
    ours: through(stage, service, linked, (count) => write('linked', count), arrived),
    bare: bare('alone', 'sendSafely'),
    unconfirmed: bare('alone', 'send'),
    storing: bare('storing', 'sendSafely'),
    lone: openLone(service, requestOf(linked), client, `friend@${domain}`),
    targets: { sent: 12, received: 2 },
  }
}

function openLone(
  service: Service,
  request: Buffer,
  client: (username: string) => Child,
  to: string,
): Lone {
  // Opened by the first message: the turns before it take longer than the server keeps an idle connection.
  let opening: Promise<Connection> | undefined
  const until = async (send: () => Promise<number>) => {
    const [came, began] = await Promise.all([client('friend').ask<number>('next'), send()])
    return came - began
  }
  const byLibrary = (isSafe: boolean) => () =>
    until(() => client('alone').ask('sendOne', { to, isSafe }))
  return {
    words: byLibrary(false),
    same: byLibrary(true),
    ours: () =>
      until(async () => {
        opening ??= Connection.open(service.port)
        const connection = await opening
        const began = now()
        await connection.request(request)
        return began
      }),
    close: () => void opening?.then((connection) => connection.close()),
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
  const flood = (count: number, token = linked) => upstream.ask('flood', { token, count })
  const bareBot = async (token: string | undefined, databaseUrl?: string): Promise<Way> => {
    const bare = processOf('bare-bot-process')
    opened.defer(() => bare.stop())
    await bare.ask('start', { port, token, databaseUrl })
    return {
      process: bare,
      send: (count) => bare.ask('send', { to: '42', count, atOnce: AT_ONCE }),
      async receive(count) {
        const all = bare.ask('expect', count)
        await flood(count, token)
        await all
      },
    }
  }
  return {
    name: 'telegram-bot',
    ours: through(stage, service, { credentialId, key, chatId: 42 }, flood),
    bare: await bareBot(alone),
    storing: await bareBot(storing, stage.databaseUrl),
    targets: { sent: 3, received: 3 },
  }
}
