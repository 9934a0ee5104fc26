/** The suite whose judge is of another make: calls on one API key while its owner or the database fails, in an order that could have been. */
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { updateJson } from '../../src/updates/row.ts'
import { type Client, until } from '../support/client.ts'
import { builtPorcupine, judged, type RecordedCall, type Update } from '../support/porcupine.ts'
import { linkedPerson, persistently } from './accounts.ts'
import { breakFor, crashBackend } from './faults.ts'
import { Callers, updateOf } from './history.ts'
import type { Stage, StageNode } from './stage.ts'
import type { Suite } from './suite.ts'

/** The account whose key all call, and what the judge has found. */
export interface JudgedAccount {
  readonly client: Client
  readonly credentialId: number
  readonly bot: number
  readonly friend: number
  readonly to: string
  readonly violations: string[]
  /** One of each round. */
  readonly histories: (readonly RecordedCall[])[]
}

export async function openJudged(client: Client): Promise<JudgedAccount> {
  const name = 'judged_bot'
  const linked = await linkedPerson(client, 'Bot', name, '+16540000001')
  const { person: bot, credentialId } = linked
  const wanted = { phone: '+16540000002' }
  const friend = await persistently(() => client.person('Friend', 'friend_of_judged', wanted))
  const ids = { bot: bot.id, friend: friend.id, credentialId }
  return { client, ...ids, to: `@${name}`, violations: [], histories: [] }
}

interface Fault {
  readonly name: string
  /** The owner of the account, or its memory, is lost: what was confirmed just before may come again. */
  readonly loses: boolean
  befall(stage: Stage, owner: StageNode, random: () => number): Promise<void>
}

const FROZEN_MS = 13_000

/** In the order in which rounds take them. */
const faults: readonly Fault[] = [
  {
    name: 'SIGKILL',
    loses: true,
    async befall(_, owner) {
      await owner.process.end('SIGKILL')
      await pause(2_000)
      await owner.start()
    },
  },
  {
    name: 'drain',
    loses: false,
    async befall(_, owner) {
      await owner.process.end('SIGTERM')
      await owner.start()
    },
  },
  {
    name: 'PostgreSQL killed',
    loses: true,
    befall: ({ postgres }) => postgres.crash(),
  },
  {
    name: 'SIGSTOP',
    loses: true,
    async befall(_, owner) {
      owner.process.signal('SIGSTOP')
      await pause(FROZEN_MS)
      owner.process.signal('SIGCONT')
    },
  },
  {
    name: 'stall',
    loses: true,
    async befall(_, owner, random) {
      owner.process.signal('SIGSTOP')
      await pause(1_000 + 7_000 * random())
      owner.process.signal('SIGCONT')
    },
  },
  {
    name: 'partition',
    loses: true,
    befall: (_, owner, random) => breakFor([owner.line], 500 + 11_000 * random(), random),
  },
  { name: 'backend killed', loses: true, befall: (stage) => crashBackend(stage) },
]

const CALM_MS = 2_500

async function ownerOf(stage: Stage, { credentialId }: JudgedAccount): Promise<StageNode> {
  return until(async () => {
    const owner = (await stage.owners()).get(credentialId)
    return stage.nodes.find(({ name }) => name === owner)
  })
}

const microseconds = () => Math.round(performance.now() * 1_000)

async function strike(
  stage: Stage,
  account: JudgedAccount,
  random: () => number,
): Promise<RecordedCall> {
  const fault = faults[account.histories.length % faults.length] as Fault
  const owner = await ownerOf(stage, account)
  const began = microseconds()
  await fault.befall(stage, owner, random)
  await stage.settled()
  await ownerOf(stage, account)
  const args = { loses: fault.loses }
  return { client: fault.name, call: 'fault', began, ended: microseconds(), args }
}

async function updatesFrom(
  database: Database,
  credentialId: number,
  next: number,
): Promise<Update[]> {
  const rows = await database.query<{ updateId: number; payload: string }>(
    `select update_id as "updateId", payload from update_log
      where credential_id = $1 and update_id >= $2 order by update_id`,
    [credentialId, next],
  )
  return rows.map((row) => updateOf(JSON.parse(updateJson(row))))
}

const STORED_WITHIN_MS = 30_000

/** What the tables have once nothing is under way. */
async function endOf(
  { database }: Stage,
  account: JudgedAccount,
  next: number,
  calls: readonly RecordedCall[],
): Promise<RecordedCall[]> {
  const written = calls.filter(({ call, ended }) => call === 'write' && ended !== undefined)
  const began = microseconds()
  let updates: readonly Update[] = []
  // What is not there by then is for the judge.
  await until(async () => {
    updates = await updatesFrom(database, account.credentialId, next)
    const texts = new Set(updates.map(({ text }) => text))
    return written.every(({ args }) => texts.has(`${args.text}`))
  }, STORED_WITHIN_MS).catch(() => undefined)
  const sent = await database.query<{ text: string }>(
    `select content ->> 'text' as text from sandbox_message where sender_id = $1`,
    [account.bot],
  )
  const ended = microseconds()
  const read = { client: 'tables', args: {}, began, ended }
  return [
    { ...read, call: 'log', outcome: { updates } },
    { ...read, call: 'stored', outcome: { texts: sent.map(({ text }) => text) } },
  ]
}

/** Where a key begins. */
async function beginningOf({ database }: Stage, { credentialId }: JudgedAccount, key: string) {
  const [row] = await database.query<{ next: number; cursor: number }>(
    `select l.next_update_id as next, k.cursor from credential_log l
       join api_key k on k.credential_id = l.credential_id
      where l.credential_id = $1 and k.id = $2`,
    [credentialId, key.split(':')[0]],
  )
  if (!row) throw new Error('there is no such key')
  return row
}

async function historyOf(
  stage: Stage,
  account: JudgedAccount,
  random: () => number,
): Promise<RecordedCall[]> {
  const { client, credentialId, friend, to } = account
  const { key } = await persistently(() => client.key(credentialId))
  const begin = await beginningOf(stage, account, key)
  const name = `round ${account.histories.length + 1}`
  const urls = stage.nodes.map(({ url }) => url)
  const callers = new Callers({ client, urls, key, friend, to, name }, random, begin.next - 1)
  const start = { client: 'tables', call: 'start', args: begin, began: microseconds() }
  await callers.start()
  await pause(CALM_MS)
  const fault = await strike(stage, account, random)
  await pause(CALM_MS)
  await callers.end()
  const { calls } = callers.history
  return [start, ...calls, fault, ...(await endOf(stage, account, begin.next, calls))]
}

async function judge(history: readonly RecordedCall[], name: string): Promise<string[]> {
  const built = await builtPorcupine()
  if (typeof built === 'string') throw new Error(built)
  const verdicts = await judged(built.program, history)
  const bad = Object.entries(verdicts).filter(([, { result }]) => result !== 'Ok')
  if (bad.length === 0) return []
  const file = join(tmpdir(), `chapar-history-${process.pid}-${name.replaceAll(' ', '-')}.jsonl`)
  await writeFile(file, history.map((call) => `${JSON.stringify(call)}\n`).join(''))
  return bad.map(([of, { result, stuck }]) => `${name}, ${of}: ${result}, ${stuck} (${file})`)
}

export const linearizable: Suite = {
  name: 'linearizable',
  needs: { judged: true },
  async missing() {
    const built = await builtPorcupine()
    return typeof built === 'string' ? built : undefined
  },
  promisesCalls: false,
  cuts: true,
  async round(stage, random) {
    const account = stage.judged
    if (!account) throw new Error('there is no account to be judged')
    const history = await historyOf(stage, account, random)
    account.histories.push(history)
    const name = `round ${account.histories.length} (${history.find(({ call }) => call === 'fault')?.client})`
    account.violations.push(...(await judge(history, name)))
    return { recoveries: [], needless: 0 }
  },
}
