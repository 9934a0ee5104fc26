/** A bot that asks its bot API directly, by the same HTTP client as the service, and parses what comes; it may store it too. */
import { Pool } from 'undici'
import { BareStore } from './bare-store.ts'
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
let database: BareStore | undefined
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

const store = (to: BareStore, updates: readonly Update[], offset: number) =>
  to.store(
    updates.map(({ update_id, ...rest }) => ({
      id: update_id,
      sourceKey: `${update_id}@${rest.message.date}`,
      chatId: rest.message.chat.id,
      payload: JSON.stringify(rest).slice(1, -1),
    })),
    `${offset}`,
  )

answerParent({
  async start({ port, token: given, databaseUrl }: Start) {
    pool = new Pool(`http://127.0.0.1:${port}`)
    token = given
    if (databaseUrl !== undefined) database = await BareStore.open(databaseUrl, 'bare_bot')
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
    await database?.close()
  },
})
