/** A bot API that costs as little as one can: every send is answered with the same message, and updates come in a flood. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
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

const PAGE = 100

interface Flood {
  readonly token: string
  readonly count: number
}

interface Box {
  /** Updates that there are: the first has the id 1. */
  newest: number
  /** The poll that waits for the next one. */
  held: { readonly response: ServerResponse; readonly offset: number } | undefined
}

const boxes = new Map<string, Box>()

function boxOf(token: string): Box {
  const box = boxes.get(token) ?? { newest: 0, held: undefined }
  boxes.set(token, box)
  return box
}

const updateOf = (id: number) => ({
  update_id: id,
  message: { ...message, message_id: id, from: { ...chat, is_bot: false } },
})

function answerPoll(box: Box, response: ServerResponse, offset: number): void {
  const first = Math.max(1, offset)
  if (first > box.newest) {
    box.held = { response, offset }
    return
  }
  const length = Math.min(PAGE, box.newest - first + 1)
  const result = Array.from({ length }, (_, index) => updateOf(first + index))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ ok: true, result }))
}

async function poll(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, token = ''] = /\/bot([^/]+)/.exec(request.url ?? '') ?? []
  const text = Buffer.concat(await request.toArray()).toString()
  const { offset = 0 } = text === '' ? {} : JSON.parse(text)
  answerPoll(boxOf(token), response, offset)
}

/** Polls are held until there is something for them. */
const server = createServer((request, response) => {
  const method = request.url?.split('/').at(-1) ?? ''
  if (method === 'getUpdates') {
    poll(request, response).catch((cause) => response.destroy(cause))
    return
  }
  const answer = answers.get(method)
  request.resume()
  if (answer) request.once('end', () => response.writeHead(200, answer.headers).end(answer.body))
})
server.keepAliveTimeout = 60_000

answerParent({
  async start() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  /** So many more updates for one bot. */
  flood({ token, count }: Flood) {
    const box = boxOf(token)
    box.newest += count
    const { held } = box
    box.held = undefined
    if (held && !held.response.destroyed) answerPoll(box, held.response, held.offset)
  },
  processor,
  stop() {
    server.closeAllConnections()
    server.close()
  },
})
