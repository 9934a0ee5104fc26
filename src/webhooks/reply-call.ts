/** The method call that an answer to a delivery may carry: read like the body of an ordinary call. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments, formEntries, utf8 } from '../bot-api/arguments.ts'
import { type CallExecution, execute, isPassedOn, preparePass } from '../bot-api/execute.ts'
import { replyKey } from '../bot-api/idempotency.ts'
import { Receiving, releaseAll, type UploadPlace } from '../http/bot/multipart.ts'
import { jsonEntries } from '../http/bot/parameters.ts'
import type { EndpointReply } from './exchange.ts'

const INFLATED_BYTES = 65_536
const TAKES_MS = 60_000
const inflaters = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
])

/** Methods that are ignored: the receiver gets no result, so queries are of no use; and it must not switch itself off by accident. */
const ignored = /^(get|(setwebhook|deletewebhook|close|logout)$)/i

export interface ReplyCall {
  readonly method: string
  readonly args: Arguments
  /** By the names of their parts. */
  readonly files: ReadonlyMap<string, File>
  /** The body as it came, decompressed. */
  readonly body: { readonly type: string; readonly bytes: Buffer }
}

/** The call in an answer; undefined if there is none, or if its method is not allowed here. */
export async function callIn(reply: EndpointReply): Promise<ReplyCall | undefined> {
  if (reply.body.length === 0) return undefined
  try {
    const { type } = reply
    const bytes = await plain(reply)
    const { entries, files } = await contentOf(type, bytes)
    const args = new Arguments(entries)
    const method = args.text('method')
    if (method === undefined || ignored.test(method)) return undefined
    return { method, args, files, body: { type, bytes } }
  } catch {
    // An answer that is no valid call is ignored.
    return undefined
  }
}

interface ReplyCallWorld extends CallExecution {
  readonly uploads: UploadPlace
}

/**
 * Executes the call like any other call of this key, with a time limit of its own. The same call in the answer to the same
 * update, which a crash has delivered again, is executed once.
 */
export async function executeReplyCall(
  key: ApiKeyActor,
  call: ReplyCall,
  traceId: string,
  { uploads: place, ...execution }: ReplyCallWorld,
): Promise<void> {
  const { method, args, files, body } = call
  const idempotencyKey = replyKey(`${traceId} ${await digestOf(call)}`)
  const signal = AbortSignal.timeout(TAKES_MS)
  const platform = await execution.credentials.platformOf(key.facts.credentialId)
  if (isPassedOn(platform, method)) {
    const passed = {
      verb: 'POST',
      query: '',
      body: { ...body, length: body.bytes.length },
    } as const
    const parameter = (name: string) => args.text(name)
    const about = { key, method, traceId, idempotencyKey, parameter, leaving: () => signal }
    await patiently(signal, async () => {
      const pass = await preparePass({ ...passed, ...about }, execution)
      await pass()
    })
    return
  }
  const receiving = new Receiving(place, signal)
  try {
    for (const [part, file] of files) {
      const bytes = Readable.from([Buffer.from(await file.arrayBuffer())])
      await receiving.take(part, bytes, { name: file.name, ...(file.type && { mime: file.type }) })
    }
    const { uploads } = receiving
    const own = { signal: () => signal, leaving: () => signal }
    const about = { method, key, args, uploads, traceId, idempotencyKey, ...own }
    await patiently(signal, () => execute(about, execution))
  } finally {
    await releaseAll(receiving.uploads)
  }
}

/** The update is acknowledged, so nobody else tries again what the database has kept from beginning. */
async function patiently(signal: AbortSignal, run: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await run()
      return
    } catch (cause) {
      if (!(cause instanceof RequestFailed) || signal.aborted) throw cause
      const { certain, reason, retryAfterSeconds = 1 } = cause.failure
      if (certain === false || !reason?.startsWith('database_')) throw cause
      await pause(1_000 * retryAfterSeconds, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Of what is called, not of the bytes of the answer: the parts of a form are divided by other words each time. */
async function digestOf({ method, args, files }: ReplyCall): Promise<string> {
  const hash = createHash('sha256').update(method.toLowerCase())
  for (const name of [...args.names()].sort()) hash.update(JSON.stringify([name, args.text(name)]))
  for (const [part, file] of files) {
    hash.update(JSON.stringify([part, file.name, file.size])).update(await file.bytes())
  }
  return hash.digest('base64url')
}

interface Content {
  readonly entries: Iterable<readonly [string, string]>
  readonly files: ReadonlyMap<string, File>
}

const noFiles: ReadonlyMap<string, File> = new Map()

async function contentOf(type: string, body: Buffer): Promise<Content> {
  if (/^application\/json/i.test(type)) {
    return { entries: jsonEntries(utf8(body)), files: noFiles }
  }
  if (/^application\/x-www-form-urlencoded/i.test(type)) {
    return { entries: formEntries(body.toString('latin1')), files: noFiles }
  }
  if (/^multipart\/form-data/i.test(type)) return await partsOf(type, body)
  return { entries: [], files: noFiles }
}

/** The body is short and already in memory, so it is not read as a stream. */
async function partsOf(type: string, body: Buffer): Promise<Content> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  const entries: [string, string][] = []
  const files = new Map<string, File>()
  for (const [name, value] of form) {
    if (typeof value === 'string') entries.push([name, value])
    else if (!files.has(name)) files.set(name, value)
  }
  return { entries, files }
}

async function plain({ body, encoding }: EndpointReply): Promise<Buffer> {
  const unpack = inflaters.get(encoding.toLowerCase())
  return unpack ? await unpack(body, { maxOutputLength: INFLATED_BYTES }) : body
}

type ExecuteReply = (apiKeyId: number, call: ReplyCall, traceId: string) => Promise<unknown>

/** Hands calls in answers of webhooks to the bot API, which is built after the webhooks. Until then they are dropped. */
export class ReplyCalls {
  #execute: ExecuteReply = async () => undefined

  executeBy(execute: ExecuteReply): void {
    this.#execute = execute
  }

  execute(apiKeyId: number, call: ReplyCall, traceId: string): Promise<unknown> {
    return this.#execute(apiKeyId, call, traceId)
  }
}
