/** A bare sender of a stored backlog: it reads pages, posts them and stores its progress. A sender that loses nothing cannot do less. */
import pg from 'pg'
import type { Pool } from 'undici'

export interface Posting {
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly posts: number
  readonly connections: number
}

export interface Storing extends Posting {
  readonly databaseUrl: string
  readonly credentialId: number
  /** The backlog follows this update. */
  readonly after: number
}

/** This and the next two are the service's. */
const PAGE = 200
const ENOUGH = 0.75
const LINGER_MS = 5
const LOGGED_AT_ONCE = 1_000

const statements = {
  page: `select update_id, payload from update_log
          where credential_id = $1 and update_id > $2 order by update_id limit ${PAGE}`,
  progress: 'update bare_progress set cursor = $1, done = $2::jsonb',
  log: `insert into bare_delivery (at, user_id, api_key_id, update_id, attempt, url, status, duration_ms)
        select to_timestamp(at / 1000), 1, 1, id, 1, 'http://127.0.0.1/bare', 200, took
          from unnest($1::float8[], $2::bigint[], $3::real[]) as d (at, id, took)`,
}

/** Tables like those of the service, empty. */
export const bareTables = `
  drop table if exists bare_progress, bare_delivery;
  create table bare_progress (cursor bigint not null, done jsonb);
  insert into bare_progress values (0, null);
  create table bare_delivery (like webhook_delivery including all)`

interface Update {
  readonly id: number
  readonly payload: string
}

export class BareBacklog {
  readonly #storing: Storing
  /** Stores a row of each post. */
  readonly #logs: boolean
  readonly #http: Pool
  readonly #db: pg.Pool
  #page: Update[] = []
  #reading: Promise<void> | undefined
  #head: number
  #cursor: number
  /** Beyond the cursor. */
  readonly #done = new Set<number>()
  /** Posts that hold their connections until they are stored, so that a crash repeats no more than there are. */
  #unsaved: (() => void)[] = []
  #saving: Promise<void> | undefined
  #lingering: NodeJS.Timeout | undefined
  #log: [at: number, id: number, took: number][] = []
  #logging: Promise<unknown> = Promise.resolve()

  constructor(storing: Storing, http: Pool, logs: boolean) {
    this.#storing = storing
    this.#logs = logs
    this.#http = http
    this.#head = this.#cursor = storing.after
    const options = '-c synchronous_commit=off'
    this.#db = new pg.Pool({ connectionString: storing.databaseUrl, max: 3, options })
  }

  async deliver(): Promise<void> {
    await Promise.all(Array.from({ length: this.#storing.connections }, () => this.#loop()))
    this.#flush()
    await this.#logging
    await this.#db.end()
  }

  async #loop(): Promise<void> {
    const { headers } = this.#storing
    for (let update = await this.#next(); update; update = await this.#next()) {
      const began = Date.now()
      const body = `{"update_id":${update.id},\n${update.payload}}`
      const request = { path: '/bare', method: 'POST', headers, body } as const
      const answer = await this.#http.request(request)
      await answer.body.dump()
      if (this.#logs) this.#log.push([began, update.id, Date.now() - began])
      if (this.#log.length >= LOGGED_AT_ONCE) this.#flush()
      this.#acknowledge(update.id)
      await this.#stored()
    }
  }

  async #next(): Promise<Update | undefined> {
    while (this.#page.length === 0 && this.#head < this.#storing.after + this.#storing.posts) {
      this.#reading ??= this.#read()
      await this.#reading
    }
    return this.#page.shift()
  }

  async #read(): Promise<void> {
    const values = [this.#storing.credentialId, this.#head]
    const { rows } = await this.#ask('page', values)
    this.#page = rows.map(([id, payload]) => ({ id: Number(id), payload }))
    this.#head = this.#page.at(-1)?.id ?? Number.POSITIVE_INFINITY
    this.#reading = undefined
  }

  #acknowledge(id: number) {
    this.#done.add(id)
    while (this.#done.delete(this.#cursor + 1)) this.#cursor++
  }

  #stored(): Promise<void> {
    return new Promise((resolve) => {
      this.#unsaved.push(resolve)
      this.#consider()
    })
  }

  #consider() {
    if (this.#saving || this.#unsaved.length === 0) return
    const begin = () => {
      clearTimeout(this.#lingering)
      this.#lingering = undefined
      this.#saving ??= this.#save()
    }
    if (this.#unsaved.length >= ENOUGH * this.#storing.connections) begin()
    else this.#lingering ??= setTimeout(begin, LINGER_MS)
  }

  async #save(): Promise<void> {
    const covered = this.#unsaved
    this.#unsaved = []
    await this.#ask('progress', [this.#cursor, JSON.stringify([...this.#done])])
    this.#saving = undefined
    for (const go of covered) go()
    this.#consider()
  }

  #flush() {
    const rows = this.#log
    this.#log = []
    if (rows.length === 0) return
    const columns = [0, 1, 2].map((place) => `{${rows.map((row) => row[place]).join(',')}}`)
    this.#logging = this.#logging.then(() => this.#ask('log', columns))
  }

  #ask(name: keyof typeof statements, values: unknown[]) {
    return this.#db.query({
      name: `bare-${name}`,
      text: statements[name],
      values,
      rowMode: 'array' as const,
    })
  }
}
