/** Two processes on one database: the owner of the accounts is killed or frozen under load, and the other takes them over. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { openVault } from '../../src/security/vault.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { linkedAccount } from './account.ts'
import { Consumer } from './consumer.ts'
import { ServiceProcess } from './service-process.ts'
import { type LateSend, Spool } from './spool.ts'
import { freePort } from './stage.ts'
import { judge } from './verdict.ts'

export interface TakeoverPlan {
  readonly databaseUrl: string
  readonly takeovers: number
  readonly perSecond: number
  /** The network lets an account be connected twice. */
  readonly isShared: boolean
}

export interface TakeoverReport {
  readonly acknowledged: number
  readonly delivered: number
  readonly lost: number
  readonly violations: readonly string[]
  /** Integers that were given to two messages of a chat. */
  readonly doubled: readonly string[]
  readonly sends: { readonly ok: number; readonly refused: number; readonly uncertain: number }
  /** Those that an owner made although the next one had connected already. */
  readonly lateSends: readonly LateSend[]
  readonly states: readonly { readonly state: string; readonly machine_state: string }[]
  /** Milliseconds from the end or the freeze of the owner until the accounts flow again. */
  readonly takes: readonly { readonly by: 'kill' | 'freeze'; readonly ms: number }[]
}

const ACCOUNTS = ['ada', 'bob', 'cyd']
const CHATS = ['north', 'east']
const CALM_EVENTS = 30
const LONG_MS = 60_000
const SEND_EVERY_MS = 20

export async function runTakeovers(plan: TakeoverPlan): Promise<TakeoverReport> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'chapar-takeover-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const db = openDatabase({ url: plan.databaseUrl, logger: quietLogger })
  opened.defer(() => db.close())
  const keyFile = join(folder, 'keys')
  const vault = await openVault({ db, keyFile, logger: quietLogger })
  const keys: string[] = []
  for (const name of ACCOUNTS) keys.push(await linkedAccount(db, vault, name))
  const { perSecond, isShared } = plan
  const spool = await Spool.open(ACCOUNTS, { chats: CHATS, perSecond, isShared })
  opened.defer(() => spool.close())
  const ports = [await freePort(), await freePort()]
  const [one, other] = ports.map((port, place) => {
    const process = serviceAt(port, `node-${place}`, keyFile, plan, spool)
    opened.defer(() => process.stop())
    return process
  }) as [ServiceProcess, ServiceProcess]
  const urls = (key: string) => ports.map((port) => `http://127.0.0.1:${port}/bot${key}`)
  const consumers = keys.map((key) => new Consumer(...urls(key)))
  const senders = keys.map((key, place) => new Sender(urls(key), consumers[place] as Consumer))
  opened.defer(async () => {
    await Promise.all([...consumers, ...senders].map((bot) => bot.stop()))
  })

  one.start()
  spool.write()
  await until(() => spool.hasFlowed(CALM_EVENTS), LONG_MS)
  for (const bot of [...consumers, ...senders]) bot.start()
  other.start()
  const takes: { by: 'kill' | 'freeze'; ms: number }[] = []
  for (let round = 0; round < plan.takeovers; round++) {
    await until(() => bothAreUp(db), LONG_MS)
    const [name, lost] = await ownerOfMost(db)
    const owner = name === 'node-0' ? one : other
    const before = spool.accounts.map(({ owner }) => owner.epoch)
    const isTaken = () =>
      lost.every((at) => (spool.accounts[at]?.owner.epoch ?? 0) > (before[at] ?? 0))
    const by = round % 2 === 0 ? 'kill' : 'freeze'
    const began = performance.now()
    const { pid } = owner
    if (by === 'kill') await owner.kill()
    else process.kill(pid, 'SIGSTOP')
    try {
      await until(isTaken, LONG_MS)
      await until(() => spool.hasFlowed(CALM_EVENTS), LONG_MS)
    } finally {
      if (by === 'freeze') process.kill(pid, 'SIGCONT')
    }
    takes.push({ by, ms: performance.now() - began })
    // Long enough that the owner before must have learnt of it, and calls have met it meanwhile.
    await pause(200 + Math.random() * 1_500)
  }
  await Promise.all(senders.map((sender) => sender.stop()))
  spool.stopWriting()
  await until(() => spool.acknowledged === spool.written, LONG_MS)
  const delivered = () => consumers.reduce((sum, consumer) => sum + consumer.delivered.size, 0)
  await until(() => delivered() >= spool.acknowledged, LONG_MS).catch(() => undefined)
  await pause(1_500)
  const states = await db.query<{ state: string; machine_state: string }>(
    'select state, machine_state from credential order by id',
  )
  const histories = spool.accounts.map((account, place) => ({
    name: account.name,
    acknowledged: spool.acknowledgedTexts(account),
    delivered: consumers[place]?.delivered ?? new Map(),
  }))
  const { lost, violations } = judge(histories)
  const count = (of: 'ok' | 'refused' | 'uncertain') =>
    senders.reduce((sum, sender) => sum + sender[of], 0)
  return {
    acknowledged: spool.acknowledged,
    delivered: delivered(),
    lost,
    violations: [
      ...violations,
      ...spool.violations,
      ...consumers.flatMap((consumer) => consumer.violations),
      ...senders.flatMap((sender) => sender.violations),
    ],
    doubled: senders.flatMap((sender, place) => sender.doubled(consumers[place] as Consumer)),
    sends: { ok: count('ok'), refused: count('refused'), uncertain: count('uncertain') },
    lateSends: spool.lateSends,
    states,
    takes,
  }
}

async function bothAreUp(db: Database): Promise<boolean> {
  const rows = await db.query(`select from node where state = 'up'`)
  return rows.length === 2
}

/** The process that owns the most accounts, with their places among all. */
async function ownerOfMost(db: Database): Promise<readonly [string, readonly number[]]> {
  const rows = await db.query<{ node: string }>('select node from credential order by id')
  const owned = Map.groupBy(rows.keys(), (place) => rows[place]?.node ?? '')
  const [most] = [...owned].sort(([, one], [, other]) => other.length - one.length)
  if (!most) throw new Error('there are no accounts')
  return most
}

function serviceAt(
  port: number,
  name: string,
  keyFile: string,
  { databaseUrl }: TakeoverPlan,
  spool: Spool,
): ServiceProcess {
  return new ServiceProcess({
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'chapar-compiled'),
    KILL_DATABASE_URL: databaseUrl,
    KILL_KEY_FILE: keyFile,
    KILL_NODE: name,
    KILL_PORT: `${port}`,
    SPOOL_PORT: `${spool.port}`,
  })
}

interface Answer {
  readonly result?: { readonly message_id: number }
  readonly error_code?: number
}

/** A bot that sends to the chats it has heard of, through either process in turn. */
class Sender {
  ok = 0
  /** Nothing was sent. */
  refused = 0
  /** It may have been sent: the process ended, or could not say. */
  uncertain = 0
  readonly violations: string[] = []
  /** What the answers said: the text by chat and message. */
  readonly #given = new Map<string, string>()
  readonly #urls: readonly string[]
  readonly #heard: Consumer
  readonly #stopping = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor(urls: readonly string[], heard: Consumer) {
    this.#urls = urls
    this.#heard = heard
  }

  start(): void {
    this.#running = Promise.all(this.#urls.map((url) => this.#run(url)))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Integers that stand for two messages, among all that were sent and delivered. */
  doubled({ delivered }: Consumer): string[] {
    const all = new Map(this.#given)
    const twice: string[] = []
    for (const { chatId, messageId, text } of delivered.values()) {
      const known = all.get(`${chatId}/${messageId}`)
      if (known !== undefined && known !== text) twice.push(`${messageId}: ${known}, ${text}`)
      all.set(`${chatId}/${messageId}`, text)
    }
    return twice
  }

  async #run(url: string) {
    for (let count = 0; !this.#stopping.signal.aborted; count++) {
      await pause(SEND_EVERY_MS)
      const [chat] = [...this.#heard.delivered.values()].slice(-1)
      if (chat) await this.#send(url, chat.chatId, `sent ${count} by ${url.slice(0, 22)}`)
    }
  }

  async #send(url: string, chatId: number, text: string) {
    try {
      const response = await fetch(`${url}/sendMessage`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ chat_id: chatId, text }),
        signal: AbortSignal.timeout(10_000),
      })
      const { result, error_code: code } = (await response.json()) as Answer
      if (result) {
        const at = `${chatId}/${result.message_id}`
        const known = this.#given.get(at)
        if (known !== undefined) this.violations.push(`${at} is ${known} and ${text}`)
        this.#given.set(at, text)
        this.ok++
      } else if (code === 503) this.refused++
      else if (code === 504) this.uncertain++
      else this.violations.push(`a send was answered with ${code}`)
    } catch {
      this.uncertain++
    }
  }
}

export function takeoverSummary(report: TakeoverReport): string[] {
  const { takes, sends, lateSends } = report
  const times = (kind: 'kill' | 'freeze') => {
    const sorted = takes.flatMap(({ by, ms }) => (by === kind ? [ms] : [])).sort((a, b) => a - b)
    const at = (part: number) => Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0)
    return `${kind} to flow p50 ${at(0.5)} ms, max ${at(1)} ms (${sorted.length})`
  }
  const latest = Math.round(Math.max(0, ...lateSends.map(({ afterMs }) => afterMs)))
  return [
    `${takes.length} takeovers: ${times('kill')}; ${times('freeze')}`,
    `${report.acknowledged} acknowledged, ${report.delivered} delivered, ${report.lost} lost`,
    `${report.doubled.length} integers doubled, ${report.violations.length} violations`,
    `sends: ${sends.ok} ok, ${sends.refused} refused, ${sends.uncertain} uncertain`,
    `${lateSends.length} sends after the next owner had connected, the latest ${latest} ms after`,
    `states: ${report.states.map(({ state, machine_state }) => `${state} (${machine_state})`).join(', ')}`,
  ]
}
