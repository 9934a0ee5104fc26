/** What the service is compared with: a bare Fastify that inserts a row, and one that lets its answers hang. */
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import { Type } from 'typebox'
import { validators } from '../../src/http/validation.ts'
import { answerParent, memory, processor } from './child.ts'

const SendMessage = Type.Object({
  chat_id: Type.Integer(),
  text: Type.String({ minLength: 1, maxLength: 4096 }),
})

const app = Fastify().setValidatorCompiler(validators())
const held = new Set<() => void>()

/** The client is answered once the row is durable, as it is by us. */
function inserting(app: FastifyInstance, databaseUrl: string): void {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 })
  app.addHook('onClose', () => pool.end())
  app.post<{ Body: { chat_id: number; text: string } }>(
    '/bot:token/sendMessage',
    { schema: { body: SendMessage } },
    async ({ body: { chat_id, text } }) => {
      const { rows } = await pool.query({
        name: 'insert',
        text: 'insert into bare_message (chat_id, text) values ($1, $2) returning id, at',
        values: [chat_id, text],
      })
      return { ok: true, result: { message_id: rows[0].id, date: rows[0].at, chat_id, text } }
    },
  )
}

function hanging(app: FastifyInstance): void {
  app.get('/bot:token/getUpdates', () => {
    const { promise, resolve } = Promise.withResolvers<object>()
    held.add(() => resolve({ ok: true, result: [] }))
    return promise
  })
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
  stop() {
    for (const release of held) release()
    app.server.closeAllConnections()
    return app.close()
  },
})
