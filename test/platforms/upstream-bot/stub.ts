/** A bot API that does what a test wants: proper by itself, and as bad as it is told to be. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Flavour } from '../../../src/platforms/upstream-bot/flavour.ts'
import { createBotApi } from '../../../src/platforms/upstream-bot/platform.ts'
import { listen, urlOf } from '../../support/http-server.ts'
import { run, Store } from '../contract/recorder.ts'

export const token = '123456:AAsecret-of-the-bot-0123456789abcdef'

export interface Asked {
  readonly verb: string
  readonly method: string
  /** With its question mark. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** The parameters, where they came as JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

type Answer = (response: ServerResponse, asked: Asked) => void

export const json = (value: unknown, status = 200, type = 'application/json'): Answer =>
  raw(status, JSON.stringify(value), { 'content-type': type })
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

export const cutOff: Answer = (response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"ok":true', () => response.destroy())
}

export const me = { id: 123456, is_bot: true, first_name: 'Bot', username: 'a_bot' }

/** An update, or its text. */
type Update = { readonly update_id: number } | string

const textOf = (update: Update) => (typeof update === 'string' ? update : JSON.stringify(update))
const idOf = (update: Update): number => JSON.parse(textOf(update)).update_id
const page = (updates: readonly Update[]) =>
  raw(200, `{"ok":true,"result":[${updates.map(textOf).join(',\n')}]}`)

export async function startStub(t: Pick<Test, 'teardown'>) {
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
  let otherwise = refusal(404, 'Not Found: method not found')
  let watcher: (chunk: Buffer) => void = () => undefined
  const waiting = new Set<ServerResponse>()
  const queue: Update[] = []
  const server = await listen(t, async (request, response) => {
    request.on('data', (chunk: Buffer) => watcher(chunk))
    // Its client may leave half-way.
    const call = await callOf(request).catch(() => undefined)
    if (!call) return
    asked.push(call)
    const { method } = call
    const next = answers.get(method)?.shift()
    const offset = Number(call.body.offset ?? 0)
    const due = queue.filter((update) => idOf(update) >= offset).slice(0, 100)
    if (next) next(response, call)
    else if (method === 'getUpdates' && due.length > 0) page(due)(response, call)
    else (usual[method] ?? otherwise)(response, call)
  })
  return {
    url: urlOf(server),
    asked,
    /** Gets the pieces of bodies as they come. */
    watch(by: typeof watcher) {
      watcher = by
    },
    /** Everything that nothing else is said of is answered so. */
    otherwise(answer: Answer) {
      otherwise = answer
    },
    /** The next calls of this method are answered so, one after the other. */
    next: (method: string, ...given: Answer[]) => answers.set(method, given),
    push(...updates: Update[]) {
      queue.push(...updates)
      const [first] = asked
      for (const response of waiting) if (first) page(updates.slice(0, 100))(response, first)
      // Their connections end later; what is pushed meanwhile waits for the next poll.
      waiting.clear()
    },
    last: (method: string) => asked.findLast((call) => call.method === method),
  }
}

async function callOf(request: IncomingMessage): Promise<Asked> {
  const { method: verb = '', url = '', headers } = request
  const bytes = Buffer.concat(await request.toArray())
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const isJson = headers['content-type'] === 'application/json'
  return {
    verb,
    method: path.split('/').at(-1) ?? '',
    query: at < 0 ? '' : url.slice(at),
    headers,
    bytes,
    body: isJson ? parsed(bytes) : {},
  }
}

function parsed(bytes: Buffer) {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return {}
  }
}

/** For sessions of which no key wants anything else than what comes by itself. */
export const wantsAll = { names: async () => [], onChange: () => () => undefined }

/** A session over the stub, with everything that it logged. */
export async function session(t: Test, url: string, flavour: Flavour) {
  const lines: string[] = []
  const note = (facts: object, text: string) => {
    const { err, ...rest } = facts as { err?: Error & { cause?: unknown } }
    lines.push(`${text} ${JSON.stringify(rest)} ${err?.stack} ${err?.cause}`)
  }
  const logger = { info: note, warn: note, error: note }
  const options = { flavour, url, allowPrivate: true, wanted: wantsAll, logger, holdSeconds: 2 }
  const botApi = createBotApi(options)
  t.teardown(() => botApi.close())
  const identity = { native: '123456', firstName: 'Bot' }
  const store = new Store({ identity, secrets: { token } })
  const open = run(botApi.platform, store)
  t.teardown(() => open.stop())
  const texts = () => store.happenings.map(saidIn)
  const said = (text: string) => store.until(() => texts().includes(text) || undefined)
  return { ...open, lines, platform: botApi.platform, store, texts, said }
}

/** The text of the message in an update. */
function saidIn(happening: Happening): string | undefined {
  if (happening.kind !== 'update') return undefined
  const [value] = Object.values(JSON.parse(`{${happening.payload.split('\u001f')[0]}}`))
  return (value as { readonly text?: string }).text
}

/** A call as a session gets it. */
export const passing = (method: string, parameters: object = {}) => {
  const bytes = Buffer.from(JSON.stringify(parameters))
  const body = { type: 'application/json', length: bytes.length, bytes }
  return { kind: 'pass' as const, verb: 'POST' as const, method, query: '', body }
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
