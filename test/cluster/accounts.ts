/** The accounts that take part: those with a bot, those that only get messages, and those that only lie there. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { type Client, until } from '../support/client.ts'
import { type BotCounts, type BotKind, type ReceivingBot, type Seen, startBot } from './bots.ts'
import type { AccountHistory } from './checker.ts'
import { Load, type Traffic } from './load.ts'
import type { Testing } from './stage.ts'
import { writesOf } from './writes.ts'

export interface AccountsPlan {
  /** With load. The first ones have a bot. */
  readonly accounts: number
  readonly bots: BotCounts
  /** Texts in a second that people write to all accounts together, and that their bots send. */
  readonly writesPerSecond: number
  readonly sendsPerSecond: number
  readonly seed: number
}

interface OpenOptions extends AccountsPlan {
  /** Where nodes reach the webhooks of bots; absent: on this machine. */
  readonly host?: string | undefined
}

/** What is judged in the end. */
export interface Account {
  readonly name: string
  readonly credentialId: number
  readonly key: string
  /** Texts of its bot that the network has. */
  stored(db: Database): Promise<readonly string[]>
  /** Absent: what came is asked for in the end. */
  readonly bot: ReceivingBot | undefined
  readonly traffic: Traffic
}

export interface Accounts {
  readonly all: readonly Account[]
  readonly load: Load
}

const AT_ONCE = 10
/** A person writes to this many accounts. */
const ACCOUNTS_OF_A_PERSON = 50

const TRIES = 5
const AGAIN_MS = 1_000

/** A busy machine may refuse it for a moment; nothing is judged yet. */
export async function persistently<Item>(make: () => Promise<Item>): Promise<Item> {
  for (let n = 1; ; n++) {
    try {
      return await make()
    } catch (cause) {
      if (n === TRIES || !String(cause).includes(': 503 ')) throw cause
      await pause(AGAIN_MS)
    }
  }
}

async function inTurn<Item>(count: number, make: (n: number) => Promise<Item>): Promise<Item[]> {
  const made: Item[] = []
  let next = 0
  const work = async () => {
    for (let n = next++; n < count; n = next++) made[n] = await make(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return made
}

const phoneOf = (kind: number, n: number) => `+165${kind}${String(n).padStart(7, '0')}`

export async function linkedPerson(client: Client, first: string, name: string, phone: string) {
  const person = await persistently(() => client.person(first, name, { phone }))
  // The code of a try that failed may be read by the next one.
  const link = async () => client.link(person, await client.newestCode(person.id))
  return { person, credentialId: await persistently(link) }
}

/** Accounts without keys, bots and messages. */
export const linkIdle = (client: Client, count: number): Promise<number[]> =>
  inTurn(count, async (n) =>
    linkedPerson(client, 'Idle', `idle_${n}`, phoneOf(1, n)).then(
      ({ credentialId }) => credentialId,
    ),
  )

export async function openAccounts(t: Testing, client: Client, plan: OpenOptions) {
  const kinds = Object.entries(plan.bots).flatMap(([kind, count]) =>
    Array<BotKind>(count).fill(kind as BotKind),
  )
  if (kinds.length > plan.accounts) throw new Error('there are more bots than accounts')
  const people = await inTurn(Math.ceil(plan.accounts / ACCOUNTS_OF_A_PERSON), (n) =>
    persistently(() => client.person('Friend', `friend_${n}`, { phone: phoneOf(2, n) })),
  )
  const opened = await inTurn(plan.accounts, async (n) => {
    const name = `account_${n}`
    const { person, credentialId } = await linkedPerson(client, 'Bot', name, phoneOf(3, n))
    const { key } = await persistently(() => client.key(credentialId))
    const kind = kinds[n]
    const start = () => kind && startBot(kind, client.url, key, plan.host)
    const bot = await persistently(async () => start())
    if (bot) t.teardown(() => bot.close())
    const from: number = people[Math.floor(n / ACCOUNTS_OF_A_PERSON)].id
    const target = { credentialId, key, to: `@${name}`, from }
    return {
      name: `${name} (${kind ?? 'no bot'})`,
      credentialId,
      key,
      bot,
      target,
      stored: (db: Database) => textsFrom(db, person.id),
    }
  })
  const targets = opened.map(({ target }) => target)
  const load = new Load({ client, targets, ...plan })
  const all = opened.map(({ target, ...account }, n): Account => {
    const traffic = load.traffic[n]
    if (!traffic) throw new Error('an account without traffic')
    return { ...account, traffic }
  })
  load.start()
  t.teardown(() => load.end())
  return { all, load } satisfies Accounts
}

async function textsFrom(db: Database, personId: number): Promise<string[]> {
  const stored = await db.query<{ text: string }>(
    `select content ->> 'text' as text from sandbox_message where sender_id = $1`,
    [personId],
  )
  return stored.map(({ text }) => text)
}

const DELIVERED_WITHIN_MS = 30_000

/** Ends the load, waits until all is delivered, and tells what happened to each account. */
export async function historiesOf(
  { all, load }: Accounts,
  client: Client,
  db: Database,
): Promise<AccountHistory[]> {
  await load.end()
  return inTurn(all.length, (n) => historyOf(all[n] as Account, client, db))
}

/** To be called once nobody writes to the account any more; waits until all is delivered. */
export async function historyOf(
  account: Account,
  client: Client,
  db: Database,
): Promise<AccountHistory> {
  const { name, credentialId, key, bot, traffic } = account
  const isDelivered = (seen: readonly Seen[]) => {
    const texts = new Set(seen.map(({ text }) => text))
    return traffic.written.every((text) => texts.has(text))
  }
  const asked = { seen: [] as Seen[], next: 0 }
  // What is not delivered by then is what the checker tells.
  await until(async () => {
    if (bot) return isDelivered(bot.seen)
    await askFor(client, key, asked)
    return isDelivered(asked.seen)
  }, DELIVERED_WITHIN_MS).catch(() => undefined)
  return {
    name,
    written: traffic.written,
    seen: bot?.seen ?? asked.seen,
    failures: bot?.failures ?? [],
    sent: traffic.sent,
    unknown: traffic.unknown,
    stored: await account.stored(db),
    ...(await logOf(db, credentialId)),
    states: await statesOf(client, db, credentialId),
  }
}

/** At one moment: what nobody waited for may be stored at any time. */
const logOf = (db: Database, credentialId: number) =>
  db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read')
    const [row] = await tx.query<{ updates: number; ids: number }>(
      `select count(u.*)::int as updates,
              coalesce(max(u.update_id) - min(u.update_id) + 1, 0)::int as ids
         from update_log u where u.credential_id = $1`,
      [credentialId],
    )
    const log = { updates: row?.updates ?? 0, ids: row?.ids ?? 0 }
    return { log, writes: await writesOf(tx, credentialId) }
  })

const AT_REST_WITHIN_MS = 15_000

/** As its owner shows it, and as the table has it. The last fault may have left a move to another node under way. */
async function statesOf(
  client: Client,
  db: Database,
  credentialId: number,
): Promise<readonly [owner: string, table: string]> {
  let states: readonly [string, string] = ['', '']
  await until(async () => {
    const { body } = await client.ask('GET', `/platforms/credentials/${credentialId}`)
    const [row] = await db.query<{ state: string }>('select state from credential where id = $1', [
      credentialId,
    ])
    // A node that moves the account may refuse for a moment: what it says stands for the state.
    states = [body.result?.state ?? JSON.stringify(body), row?.state ?? '']
    return states.every((state) => state === 'active')
  }, AT_REST_WITHIN_MS).catch(() => undefined)
  return states
}

/** All that the account has got so far, by polls that do not wait. */
async function askFor(client: Client, key: string, asked: { seen: Seen[]; next: number }) {
  for (;;) {
    const { body } = await client.bot(key, 'getUpdates', { offset: asked.next })
    if (!body.ok) throw new Error(`getUpdates: ${JSON.stringify(body)}`)
    for (const { update_id: updateId, message } of body.result) {
      asked.next = updateId + 1
      if (message?.text === undefined) continue
      asked.seen.push({ updateId, messageId: message.message_id, text: message.text })
    }
    if (body.result.length === 0) return
  }
}
