/** What the service is compared with: a bare Fastify that inserts a row, and one that lets its answers hang until a message comes. */
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import { Type } from 'typebox'
import { validators } from '../../src/http/validation.ts'
import { answerParent, memory, processor } from './child.ts'
import { evenly, type Pace } from './load.ts'
import { now } from './statistics.ts'

const SendMessage = Type.Object({
  chat_id: Type.Integer(),
  text: Type.String({ minLength: 1, maxLength: 4096 }),
})

const app = Fastify().setValidatorCompiler(validators())
const held = new Set<() => void>()
/** By tokens; the polls of all others hang until the end. */
const mailboxes = new Map<string, Mailbox>()
let pool: pg.Pool

const insert = (chat_id: number | string, text: string) =>
  pool.query({
    name: 'insert',
    text: 'insert into bare_message (chat_id, text) values ($1, $2) returning id, at',
    values: [chat_id, text],
  })

interface Update {
  readonly update_id: number
  readonly message: { readonly text: string }
}

/** The updates of one token in memory, and the poll that waits for the next one. */
class Mailbox {
  #updates: Update[] = []
  #last = 0
  #waiting: ((answer: object) => void) | undefined

  put(text: string): void {
    this.#updates.push({ update_id: ++this.#last, message: { text } })
    this.#answer()
  }

  poll(offset: number): Promise<object> {
    this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset)
    const { promise, resolve } = Promise.withResolvers<object>()
    this.#waiting = resolve
    this.#answer()
    return promise
  }

  /** As the end of the service does. */
  release(): void {
    this.#waiting?.({ ok: true, result: [] })
  }

  #answer(): void {
    if (this.#updates.length === 0 || !this.#waiting) return
    this.#waiting({ ok: true, result: this.#updates })
    this.#waiting = undefined
  }
}

/** As the messenger and the service do: each commits the message before the next step, and then the poll is answered. */
async function write({ tokens, ...pace }: BareWriting): Promise<void> {
  await evenly(pace, async (index) => {
    const token = tokens[index % tokens.length] ?? ''
    const text = `${now()} the quick brown fox`
    await insert(token, text)
    await insert(token, text)
    mailboxes.get(token)?.put(text)
  })
}

export interface BareWriting extends Pace {
  readonly tokens: readonly string[]
}

/** The client is answered once the row is durable, as it is by us. */
function inserting(app: FastifyInstance, databaseUrl: string): void {
  pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
  app.addHook('onClose', () => pool.end())
  app.post<{ Body: { chat_id: number; text: string } }>(
    '/bot:token/sendMessage',
    { schema: { body: SendMessage } },
    async ({ body: { chat_id, text } }) => {
      const { rows } = await insert(chat_id, text)
      return { ok: true, result: { message_id: rows[0].id, date: rows[0].at, chat_id, text } }
    },
  )
}

function hanging(app: FastifyInstance): void {
  app.get<{ Params: { token: string }; Querystring: { offset?: string } }>(
    '/bot:token/getUpdates',
    ({ params, query }) => {
      const mailbox = mailboxes.get(params.token)
      if (mailbox) return mailbox.poll(Number(query.offset))
      const { promise, resolve } = Promise.withResolvers<object>()
      held.add(() => resolve({ ok: true, result: [] }))
      return promise
    },
  )
}

answerParent({
  async start({ databaseUrl }: { databaseUrl: string }) {
    inserting(app, databaseUrl)
    hanging(app)
    return app.listen({ host: '127.0.0.1', port: 0 })
  },
  memory,
  processor,
  held: () => held.size,
  /** Before the first poll of such a token. */
  receive(tokens: readonly string[]) {
    for (const token of tokens) mailboxes.set(token, new Mailbox())
  },
  write,
  stop() {
    for (const release of held) release()
    for (const mailbox of mailboxes.values()) mailbox.release()
    app.server.closeAllConnections()
    return app.close()
  },
})
