/** A bot that asks its bot API directly, by the same HTTP client as the service, and parses what comes. */
import { Pool } from 'undici'
import { answerParent, processor } from './child.ts'
import { Received, type Sending, sendSpread } from './load.ts'

let pool: Pool
let token = ''
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
    const updates = await ask<{ readonly update_id: number }[]>('getUpdates', {
      offset,
      timeout: 50,
    })
    offset = (updates.at(-1)?.update_id ?? offset - 1) + 1
    received.note(updates.length)
  }
}

answerParent({
  start({ port, token: given }: { readonly port: number; readonly token: string }) {
    pool = new Pool(`http://127.0.0.1:${port}`)
    token = given
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
  },
})
