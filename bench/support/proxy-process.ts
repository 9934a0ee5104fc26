/** The floor of passing a call on: a bare Fastify that sends the body to the network, and its answer back. */
import Fastify from 'fastify'
import { Pool } from 'undici'
import { answerParent, processor } from './child.ts'

const app = Fastify()
let pool: Pool

app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) =>
  done(null, body),
)

app.post<{ Body: Buffer }>('/bot:token/*', async ({ url, body }, reply) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await pool.request({ path: url, method: 'POST', headers, body })
  return reply
    .code(answer.statusCode)
    .type('application/json')
    .send(await answer.body.text())
})

answerParent({
  async start({ port }: { port: number }) {
    pool = new Pool(`http://127.0.0.1:${port}`)
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    return Number(new URL(address).port)
  },
  processor,
  async stop() {
    app.server.closeAllConnections()
    await app.close()
    await pool.destroy()
  },
})
