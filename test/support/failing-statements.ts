/** Lets each statement of a request to a running service fail in turn, as it does while the database is away. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Answer } from './client.ts'

/** As pg says it when the server is stopped: it has undone the statement. */
const stopped = () =>
  Object.assign(new pg.DatabaseError('terminating connection', 0, 'error'), { code: '57P01' })

/** Without the values that MikroORM writes into it. */
const formOf = (text: string) =>
  text.replace(/E?'(?:[^'\\]|''|\\.)*'/g, "''").replace(/(?<![$\w"])\d+\b/g, '0')

const isRollback = (text: string) => /^rollback/i.test(text)
const brief = (text: string) => text.trim().replace(/\s+/g, ' ').slice(0, 90)

const isDone = ({ status }: Answer) => status >= 200 && status < 300
/** It says when to ask again. */
const isPassing = ({ status, headers, body }: Answer) =>
  status === 503 && headers.get('retry-after') === `${body.parameters?.retry_after}`
/** It says that it may have been done. */
const isUnconfirmed = ({ status, body }: Answer) =>
  status === 504 && (body.code === 'write_unconfirmed' || body.error_code === 504)

const WRITES = /\b(insert|update|delete|commit)\b/i

/** These come and go by themselves, or are of no use to anybody without what would have named them. */
const passing = ['event', 'file', 'poll', 'session', 'typing'].map((name) => `sandbox_${name}`)

/** Returns what counts all that stays in the sandbox. */
export async function sandboxCounter(database: pg.Client): Promise<() => Promise<number>> {
  const { rows: tables } = await database.query<{ relname: string }>(
    `select relname from pg_class where relkind = 'r' and relname like 'sandbox%' and relname <> all ($1)`,
    [passing],
  )
  const counts = tables.map(({ relname }) => `(select count(*) from ${relname})`).join(' + ')
  return async () => Number((await database.query(`select ${counts} as total`)).rows[0].total)
}

/** A fast machine asks more often than a limit allows: such a call has done nothing yet. */
async function inItsTime(request: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await request()
    if (answer.status !== 429) return answer
    await pause((answer.body.parameters?.retry_after ?? 1) * 1_000)
  }
}

export interface Flow {
  readonly name: string
  /** Makes what the request needs, and gives the request, to be repeated with the same values. */
  begin(): Promise<() => Promise<Answer>>
  /** What it needs takes long to make, or there are many of its kind: no statement fails alone. */
  readonly isCostly?: true
  /** It waits long for a database that stays away: statements fail alone. */
  readonly isPatient?: true
  /** Statements of which one stands for all. */
  readonly alike?: RegExp
  /** How many things there are of the kind that the request makes. */
  count?(): Promise<number>
}

type Done = (error: Error) => void
interface Owner {
  before(work: () => Promise<void>): void
  teardown(work: () => void): void
}

export class FailingStatements {
  readonly #heard = new Set<string>()
  /** What the service asks by itself. */
  readonly #usual = new Set<string>()
  #fails: (text: string) => boolean = () => false
  runs = 0

  constructor(t: Owner) {
    const query = pg.Client.prototype.query
    const hear = (text: string) => {
      this.#heard.add(text)
      return this.#fails(text)
    }
    pg.Client.prototype.query = function failing(this: pg.Client, ...given: unknown[]) {
      const [asked] = given
      const text = formOf(typeof asked === 'string' ? asked : (asked as { text: string }).text)
      if (!hear(text)) return Reflect.apply(query, this, given)
      const done = given.at(-1)
      if (typeof done !== 'function') return Promise.reject(stopped())
      return void process.nextTick(done as Done, stopped())
    } as typeof query
    t.teardown(() => {
      pg.Client.prototype.query = query
    })
    t.before(async () => {
      this.#heard.clear()
      await pause(1_500)
      for (const text of this.#heard) if (!/^(begin|commit)$/i.test(text)) this.#usual.add(text)
    })
  }

  /** Resolves with what was told wrongly. */
  async sweep(flow: Flow): Promise<string[]> {
    const problems: string[] = []
    const request = await flow.begin()
    this.#heard.clear()
    const answer = await inItsTime(request)
    if (!isDone(answer)) problems.push(`${answer.status} though nothing failed`)
    const own = [...this.#heard].filter((text) => !isRollback(text) && !this.#usual.has(text))
    const isAlike = (text: string) => flow.alike?.test(text) === true
    const texts = own.filter((text) => !isAlike(text) || text === own.find(isAlike))
    const ways = flow.isPatient ? [false] : flow.isCostly ? [true] : [false, true]
    for (const text of texts) {
      for (const lasts of ways) {
        const problem = await this.#attempt(flow, text, lasts)
        if (problem) problems.push(`${problem}: ${lasts ? 'from' : 'only'} ${brief(text)}`)
      }
    }
    return problems
  }

  async #attempt(flow: Flow, first: string, lasts: boolean): Promise<string | undefined> {
    const request = await flow.begin()
    const before = await flow.count?.()
    let hasFailed = false
    let mayBeDone = false
    this.#fails = (text) => {
      if (hasFailed) return lasts && !isRollback(text)
      mayBeDone ||= WRITES.test(text) && !this.#usual.has(text)
      hasFailed = text === first
      return hasFailed
    }
    const answer = await inItsTime(request)
    this.#fails = () => false
    // What is remembered from the time before is not asked again.
    if (hasFailed) this.runs += 1
    const told = `${answer.status} ${JSON.stringify(answer.body)}`
    if (flow.count && isUnconfirmed(answer) && !mayBeDone)
      return `${told} though nothing was written`
    if (isDone(answer) || isUnconfirmed(answer)) return undefined
    if (!isPassing(answer)) return told
    if (flow.count && (await flow.count()) !== before) return `${told} though it was made`
    const { status: again } = await request()
    // A rate passes as well.
    return again >= 300 && again !== 429 ? `${told}, and ${again} the second time` : undefined
  }
}
