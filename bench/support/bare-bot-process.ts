/** A bot that asks its bot API directly, by the same HTTP client as the service, and parses what comes; it may store it too. */
import pg from 'pg'
import { Pool } from 'undici'
import { arrayLiteral, textArray } from '../../src/database/write-behind.ts'
import { answerParent, processor } from './child.ts'
import { Received, type Sending, sendSpread } from './load.ts'

interface Start {
  readonly port: number
  readonly token: string
  /** Each page is stored here before the next poll acknowledges it. */
  readonly databaseUrl?: string
}

interface Update {
  readonly update_id: number
  readonly message: { readonly date: number; readonly chat: { readonly id: number } }
}

let pool: Pool
let token = ''
let database: pg.Client | undefined
const received = new Received()
const over = new AbortController()

async function ask<Result>(method: string, body: object): Promise<Result> {
  const answer = await pool.request({
    path: `/bot${token}/${method}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: over.signal,
  })
  return ((await answer.body.json()) as { readonly result: Result }).result
}

async function pollAlways(): Promise<void> {
  for (let offset = 0; ; ) {
    const updates = await ask<Update[]>('getUpdates', { offset, timeout: 50 })
    offset = (updates.at(-1)?.update_id ?? offset - 1) + 1
    if (database) await store(database, updates, offset)
    received.note(updates.length)
  }
}

/** Tables of the shape that the service has. */
async function openStore(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`create table bare_bot_log (like update_log including all);
    create table bare_bot as select 0::bigint as next`)
  return client
}

const statement = {
  name: 'bare-bot-store',
  text: `with moved as (update bare_bot set next = $1)
         insert into bare_bot_log (credential_id, update_id, source_key, kind, chat_id, payload)
         select 1, id, source_key, 0, chat_id, payload
           from unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[])
                  as u (id, source_key, chat_id, payload)`,
}

/** The updates and the offset in one statement, in the cheapest form that is known here. */
const store = (client: pg.Client, updates: readonly Update[], offset: number) =>
  client.query({
    ...statement,
    values: [
      offset,
      arrayLiteral(updates.map(({ update_id }) => update_id)),
      textArray(updates.map(({ update_id, message }) => `${update_id}@${message.date}`)),
      arrayLiteral(updates.map(({ message }) => message.chat.id)),
      textArray(updates.map(({ update_id: _, ...rest }) => JSON.stringify(rest).slice(1, -1))),
    ],
  })

answerParent({
  async start({ port, token: given, databaseUrl }: Start) {
    pool = new Pool(`http://127.0.0.1:${port}`)
    token = given
    if (databaseUrl !== undefined) database = await openStore(databaseUrl)
    pollAlways().catch((cause) => {
      if (!over.signal.aborted) throw cause
    })
  },
  send: ({ to, ...spread }: Sending) =>
    sendSpread(spread, (text) => ask('sendMessage', { chat_id: Number(to), text })),
  expect: (count: number) => received.expect(count),
  processor,
  async stop() {
    over.abort()
    await pool.destroy()
    await database?.end()
  },
})
