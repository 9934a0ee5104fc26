/** What a fan-out is compared with: a bare server that holds polls and posts to webhooks, with nothing behind it. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import Fastify, { type FastifyReply } from 'fastify'
import { Client } from 'undici'
import { securityHeaders } from '../../src/http/headers.ts'
import { answerParent, memory, processor, stalls } from './child.ts'
import { now } from './statistics.ts'

/** As the service's. */
const TURN_MS = 1
const words = 'the quick brown fox jumps over the lazy dog and runs into the forest'
const person = '"id":5001,"first_name":"Ada","username":"ada_lovelace"'
/** Clients read as many bytes as the service sends them. */
const headers = {
  ...securityHeaders,
  'access-control-allow-origin': '*',
  'x-request-id': '0192f0c1-2b3c-7d4e-8f50-123456789abc',
}
const signature = `v1,${'a'.repeat(43)}=`

interface Held {
  readonly reply: FastifyReply
  readonly offset: number
}

interface Hook {
  readonly client: Client
  readonly path: string
}

const app = Fastify({ requestTimeout: 0 })
const held = new Set<Held>()
const hooks: Hook[] = []

const update = (id: number) =>
  `{"update_id":${id},"message":{"message_id":${id},"date":${Math.floor(Date.now() / 1000)},"chat":{${person},"type":"private"},"from":{${person},"is_bot":false,"language_code":"en"},"text":"${now()} ${words}"}}`

app.get<{ Querystring: { offset: string } }>(
  '/bot:token/getUpdates',
  async ({ query: { offset } }, reply) => {
    const poll = { reply, offset: Number(offset) }
    held.add(poll)
    reply.raw.on('close', () => held.delete(poll))
    return reply
  },
)

app.get('/bot:token/getMe', (_, reply) =>
  reply.headers(headers).send({ ok: true, result: { id: 5001, is_bot: true, first_name: 'Ada' } }),
)

app.post<{ Body: { url: string } }>('/bot:token/setWebhook', async ({ body }) => {
  const { origin, pathname } = new URL(body.url)
  hooks.push({ client: new Client(origin, { pipelining: 1 }), path: pathname })
  return { ok: true, result: true }
})

function answer(poll: Held): void {
  held.delete(poll)
  const { reply, offset } = poll
  void reply
    .headers(headers)
    .type('application/json')
    .send(`{"ok":true,"result":[${update(offset)}]}`)
}

let posted = 0

async function post({ client, path }: Hook, body: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'bare',
    'webhook-id': `5-${posted}`,
    'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
    'webhook-signature': signature,
  }
  const { body: answered } = await client.request({ path, method: 'POST', headers, body })
  await answered.dump()
}

/** In turns of a millisecond, as the service does it. */
async function inTurns<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let until = now() + TURN_MS
  for (const item of items) {
    work(item)
    if (now() < until) continue
    await endOfTurn()
    until = now() + TURN_MS
  }
}

/** One update for all that wait: polls, or else webhooks. Resolves at once, as a report does. */
function speak(): void {
  if (held.size > 0) {
    void inTurns([...held], answer)
    return
  }
  const body = update(++posted)
  const failed = (cause: Error) => process.stderr.write(`${cause.stack}\n`)
  void inTurns(hooks, (hook) => void post(hook, body).catch(failed))
}

answerParent({
  async start() {
    const address = await app.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 })
    return Number(new URL(address).port)
  },
  speak,
  memory,
  processor,
  waitingPolls: () => held.size,
  stalls,
  async stop() {
    for (const { client } of hooks) await client.destroy()
    app.server.closeAllConnections()
    await app.close()
  },
})
