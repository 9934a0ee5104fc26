/** A bot API that costs as little as one can: every send is answered with the same message. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerParent, processor } from './child.ts'

const me = { id: 123456, is_bot: true, first_name: 'Bot', username: 'a_bot' }
const chat = { id: 42, type: 'private', first_name: 'Ada' }
const message = { message_id: 1, from: me, chat, date: 1_700_000_000, text: 'The quick brown fox' }
const answers = new Map(
  Object.entries({ getMe: me, sendMessage: message }).map(([method, result]) => {
    const body = Buffer.from(JSON.stringify({ ok: true, result }))
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    return [method, { body, headers }] as const
  }),
)

/** Polls are held until the end. */
const server = createServer((request, response) => {
  const answer = answers.get(request.url?.split('/').at(-1) ?? '')
  request.resume()
  if (answer) request.once('end', () => response.writeHead(200, answer.headers).end(answer.body))
})
server.keepAliveTimeout = 60_000

answerParent({
  async start() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  processor,
  stop() {
    server.closeAllConnections()
    server.close()
  },
})
