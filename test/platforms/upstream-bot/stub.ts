/** A bot API that does what a test wants: proper by itself, and as bad as it is told to be. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { Flavour } from '../../../src/platforms/upstream-bot/flavour.ts'
import { createBotApi } from '../../../src/platforms/upstream-bot/platform.ts'
import { listen, urlOf } from '../../support/http-server.ts'
import { run, Store } from '../contract/recorder.ts'

export const token = '123456:AAsecret-of-the-bot-0123456789abcdef'

export interface Asked {
  readonly method: string
  readonly body: Readonly<Record<string, unknown>>
}

type Answer = (response: ServerResponse, asked: Asked) => void

export const json = (value: unknown, status = 200, type = 'application/json'): Answer => {
  return (response) => {
    response.writeHead(status, { 'content-type': type }).end(JSON.stringify(value))
  }
}
export const ok = (result: unknown) => json({ ok: true, result })
export const refusal = (error_code: number, description: string, parameters?: object) =>
  json({ ok: false, error_code, description, ...(parameters && { parameters }) }, error_code)
export const raw = (status: number, body: string, headers: Record<string, string> = {}): Answer => {
  return (response) => {
    response.writeHead(status, headers).end(body)
  }
}

/** What a proxy says in place of a server that is down. */
export const html = raw(502, '<html>Bad Gateway</html>', { 'content-type': 'text/html' })

export const me = { id: 123456, is_bot: true, first_name: 'Bot', username: 'a_bot' }

export async function startStub(t: Test) {
  const answers = new Map<string, Answer[]>()
  const asked: Asked[] = []
  const usual: Record<string, Answer> = {
    getMe: ok(me),
    getWebhookInfo: ok({ url: '' }),
    // Held until the client goes away, or a test pushes something.
    getUpdates: (response) => {
      waiting.add(response)
      response.on('close', () => waiting.delete(response))
    },
  }
  const waiting = new Set<ServerResponse>()
  const queue: { readonly update_id: number }[] = []
  const server = await listen(t, async (request, response) => {
    const method = request.url?.split('/').at(-1) ?? ''
    const call = { method, body: await bodyOf(request) }
    asked.push(call)
    const next = answers.get(method)?.shift()
    const offset = Number(call.body.offset ?? 0)
    const due = queue.filter(({ update_id }) => update_id >= offset)
    if (next) next(response, call)
    else if (method === 'getUpdates' && due.length > 0) ok(due)(response, call)
    else (usual[method] ?? refusal(404, 'Not Found: method not found'))(response, call)
  })
  return {
    url: urlOf(server),
    asked,
    /** The next calls of this method are answered so, one after the other. */
    next: (method: string, ...given: Answer[]) => answers.set(method, given),
    push(...updates: { readonly update_id: number }[]) {
      queue.push(...updates)
      for (const response of waiting) ok(updates)(response, { method: 'getUpdates', body: {} })
      // Their connections end later; what is pushed meanwhile waits for the next poll.
      waiting.clear()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const text = Buffer.concat(await request.toArray()).toString()
  return request.headers['content-type'] === 'application/json' ? JSON.parse(text) : { text }
}

const none = () => Promise.reject(new Error('no files here'))
export const noFiles = { open: none, facts: none }

/** A session over the stub, with everything that it logged. */
export async function session(t: Test, url: string, flavour: Flavour) {
  const lines: string[] = []
  const note = (facts: object, text: string) => {
    const { err, ...rest } = facts as { err?: Error & { cause?: unknown } }
    lines.push(`${text} ${JSON.stringify(rest)} ${err?.stack} ${err?.cause}`)
  }
  const log = { info: note, warn: note, error: note }
  const botApi = createBotApi({
    flavour,
    url,
    allowPrivate: true,
    media: noFiles,
    log,
    holdSeconds: 2,
  })
  t.teardown(() => botApi.close())
  const identity = { native: '123456', firstName: 'Bot' }
  const store = new Store({ identity, secrets: { token } })
  const open = run(botApi.platform, store)
  t.teardown(() => open.stop())
  return { ...open, lines, platform: botApi.platform, store }
}

let ids = 0

/** A text from somebody, as an update. */
export const update = (text: string, more: object = {}) => ({
  update_id: 1000 + ids++,
  message: {
    message_id: ids,
    date: 1_700_000_000,
    chat: { id: 42, type: 'private', first_name: 'Ada' },
    from: { id: 42, is_bot: false, first_name: 'Ada' },
    text,
    ...more,
  },
})
