/** /bot<key>/<method>: every method of the bot API, in every encoding the reference takes. */

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ApiKeyActor } from '../../../actors/api-key/actor.ts'
import type { AbortLike, AbortListener } from '../../../actors/host/actor.ts'
import type { Passed } from '../../../machines/model/operation-passing.ts'
import type { Arguments } from '../../bot-api/arguments.ts'
import {
  type CallExecution,
  execute,
  isPassedOn,
  prepare,
  preparePass,
} from '../../bot-api/execute.ts'
import type { CallServices, Result } from '../../bot-api/method.ts'
import { elsewhere, type KeyGate, mayBeUsedFrom } from '../../keys/gate.ts'
import { ageOf, forwardingOf } from '../../nodes/peers.ts'
import { goneSignal } from '../gone-signal.ts'
import { openToEveryOrigin } from '../headers.ts'
import { ofKey } from '../request-log.ts'
import { noUploads, releaseAll, type UploadPlace } from './multipart.ts'
import {
  type CallRequest,
  mayHaveFiles,
  PARAMETER_BYTES,
  parametersOf,
  parseCalls,
} from './parameters.ts'
import { callOfArguments, sentCall } from './passing.ts'

/** Tells a waiting call that its client went away. An `AbortController` for each call would need several times the memory. */
class ClientAbort implements AbortLike {
  readonly #reply: FastifyReply

  constructor(reply: FastifyReply) {
    this.#reply = reply
  }

  get aborted(): boolean {
    return this.#reply.raw.destroyed
  }

  /** One listener at a time. It is removed before the answer is sent, so it is not called at an ordinary end. */
  addEventListener(_: 'abort', listener: AbortListener): void {
    this.#reply.request.left = listener
  }

  removeEventListener(): void {
    this.#reply.request.left = undefined
  }
}

const BYTES_PER_UNIT = 10_000
/** A byte of a file costs less: files go to the disk and do not pass the main thread's parser. */
const FILE_BYTES_PER_UNIT = 1_000_000

/** The cost of a call before its body is read, by the announced length; `unitsAfter` adds the rest. */
function unitsAhead(headers: IncomingHttpHeaders): number {
  const bytes = Number(headers['content-length'] ?? 0)
  // Longer parameters are refused by their announced length, and never parsed.
  const isParsed = !mayHaveFiles(headers) && bytes <= PARAMETER_BYTES
  return 1 + Math.floor(bytes / (isParsed ? BYTES_PER_UNIT : FILE_BYTES_PER_UNIT))
}

/** The rest: the parameters of a body with files, or all of a body whose length was unknown. */
function unitsAfter(
  headers: IncomingHttpHeaders,
  parameterLength: number,
  fileBytes: number,
): number {
  const isAnnounced =
    headers['content-length'] !== undefined && headers['content-encoding'] === undefined
  const parameters = isAnnounced && !mayHaveFiles(headers) ? 0 : parameterLength
  const files = isAnnounced ? 0 : fileBytes
  return Math.floor(parameters / BYTES_PER_UNIT) + Math.floor(files / FILE_BYTES_PER_UNIT)
}

/** Files whose bytes are known only once they have come. */
const isUnmeasured = (headers: IncomingHttpHeaders): boolean =>
  mayHaveFiles(headers) &&
  (headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined)

/** Gets the bytes of a body so far, and counts them as they come. */
function meter(headers: IncomingHttpHeaders, owe: (units: number) => void) {
  let spent = 0
  return (bytes: number) => {
    const [parameters, files] = mayHaveFiles(headers) ? [0, bytes] : [bytes, 0]
    const units = unitsAfter(headers, parameters, files)
    owe(units - spent)
    spent = units
  }
}

interface BotRoutesOptions extends CallExecution {
  readonly gate: KeyGate
  readonly uploads: UploadPlace
}

export async function botRoutes(app: FastifyInstance, options: BotRoutesOptions): Promise<void> {
  openToEveryOrigin(app)
  await parseCalls(app)
  app.route<{ Params: { token: string; '*': string } }>({
    method: ['GET', 'POST'],
    url: '/bot:token/*',
    // HEAD would execute the call and discard its answer.
    exposeHeadRoute: false,
    schema: { hide: true },
    handler(request, reply) {
      prepareCall(request, reply, options)
        .then(({ key, run }) => answerWith(run(), reply, key, options.world))
        .catch((error) => void reply.send(error))
    },
  })
}

const noParameters = Object.freeze({})

interface PreparedCall {
  readonly key: ApiKeyActor
  run(): Promise<Result>
}

/** Admits the key, reads the parameters, and checks the call. */
async function prepareCall(
  request: CallRequest,
  reply: FastifyReply,
  options: BotRoutesOptions,
): Promise<PreparedCall> {
  const { gate, uploads: place } = options
  const { headers, ip, params } = request
  const key = await gate.admit(params.token, ip, ofKey(request), unitsAhead(headers))
  const platform = await options.credentials.platformOf(key.facts.credentialId)
  const mayPass = isPassedOn(platform, params['*'])
  if (mayPass && params['*'] !== '') return preparePassedCall(request, reply, key, options)
  const { args, uploads } = await key.whileComing(
    () =>
      parametersOf(request, place, {
        signal: () => goneSignal(reply),
        count: (length, fileBytes) =>
          gate.owe(key.facts.apiKeyId, unitsAfter(headers, length, fileBytes)),
      }),
    isUnmeasured(headers),
  )
  const method = request.params['*'] || args.text('method') || ''
  keepParameters(request.audit, key, method, args)
  const received = {
    method,
    key,
    args,
    uploads,
    traceId: request.id,
    idempotencyKey: headers['idempotency-key']?.toString(),
    forwarded: forwardingOf(request.raw)?.call,
    age: ageOf(request.raw),
    client: headers['user-agent'],
    signal: () => goneSignal(reply),
    leaving: () => new ClientAbort(reply),
    named(name: string) {
      request.audit.method = name
    },
  }
  if (mayPass && isPassedOn(platform, method)) {
    try {
      const call = callOfArguments(args, uploads.size > 0)
      return { key, run: await preparePass({ ...received, ...call }, options) }
    } finally {
      await releaseAll(uploads)
    }
  }
  if (uploads === noUploads) {
    // The call may wait long, and its parameters are not read again: this frees their memory.
    Object.assign(request, { params: noParameters, query: noParameters })
    return { key, run: await prepare(received, options) }
  }
  const run = async () => {
    try {
      return await execute(received, options)
    } finally {
      await releaseAll(uploads)
    }
  }
  return { key, run }
}

/** Methods whose answers have updates, which are kept elsewhere, or secrets: tokens, and the whole address of a webhook. */
const NEVER_KEPT: ReadonlySet<string> = new Set([
  'getupdates',
  'getwebhookinfo',
  'getmanagedbottoken',
  'replacemanagedbottoken',
])
/** Somewhat more than the log keeps: a call may wait for minutes, and its parameters may be a megabyte. */
const KEPT_CHARACTERS = 16_896

/** Hands the request log the parameters, if the key keeps those of its calls. */
function keepParameters(
  audit: CallRequest['audit'],
  { facts: { keepsCalls: keeps } }: ApiKeyActor,
  method: string,
  args: Arguments | (() => Arguments),
): void {
  if (keeps === undefined || keeps === 'none' || NEVER_KEPT.has(method.toLowerCase())) return
  audit.args = typeof args === 'function' ? args : args.upTo(KEPT_CHARACTERS)
  audit.keeps = keeps
}

/** The same as `prepareCall`, for a call that is passed on to a network which speaks the bot API itself. */
async function preparePassedCall(
  request: CallRequest,
  reply: FastifyReply,
  key: ApiKeyActor,
  options: BotRoutesOptions,
): Promise<PreparedCall> {
  const { gate, uploads } = options
  const { headers, audit } = request
  const owe = (units: number) => gate.owe(key.facts.apiKeyId, units)
  const call = await sentCall(request, uploads.uploadBytes, meter(headers, owe))
  if (call.args) keepParameters(audit, key, request.params['*'], call.args)
  const pass = await preparePass(
    {
      verb: call.verb,
      query: call.query,
      body: call.body,
      parameter: call.parameter,
      key,
      method: request.params['*'],
      traceId: request.id,
      idempotencyKey: headers['idempotency-key']?.toString(),
      forwarded: forwardingOf(request.raw)?.call,
      leaving: () => new ClientAbort(reply),
      named: (name) => {
        audit.method = name
      },
    },
    options,
  )
  const passOn = async () => {
    try {
      return await (call.broken ? Promise.race([pass(), call.broken]) : pass())
    } finally {
      audit.requestBytes ??= call.bytes()
    }
  }
  // Its body comes while it is passed on.
  return { key, run: () => key.whileComing(passOn, isUnmeasured(headers)) }
}

/** Nothing else may hold memory for a call while it waits for its result, which may take minutes. */
function answerWith(
  result: Promise<Result>,
  reply: FastifyReply,
  key: ApiKeyActor,
  world: CallServices,
): void {
  const fail = (error: unknown) => void reply.send(error)
  const send = (result: Result) => {
    try {
      if (result.passed) return void sendPassed(result.passed, reply)
      const { audit } = reply.request
      if (result.count !== undefined) {
        // It may have waited while its key was restricted to other addresses. What it would have got stays unconfirmed.
        if (!mayBeUsedFrom(key.facts, audit.ip)) return fail(elsewhere())
        world.delivered(key, result.count)
      }
      const answer = envelope(result)
      if (audit.keeps === 'all') audit.answer = answer
      reply.type('application/json').send(answer)
    } catch (error) {
      fail(error)
    }
  }
  result.then(send, fail)
}

function sendPassed(passed: Passed, reply: FastifyReply): void {
  const { status, text, failure, code, description } = passed
  const { audit } = reply.request
  if (failure) {
    const { reason, params, retryAfterSeconds } = failure
    Object.assign(audit, { errorCode: codeOf(code, status), description, reason, params })
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
  }
  if (audit.args) audit.answer = text
  reply.code(status).type('application/json').send(text)
}

/** The log and the usage have room for codes like HTTP's alone. */
const codeOf = (code: number | undefined, status: number): number =>
  code !== undefined && Number.isInteger(code) && code >= 100 && code <= 599 ? code : status

/** Text that is JSON already goes out as it is. */
const envelope = ({ json, description }: Result): string =>
  `{"ok":true,"result":${json}${description ? `,"description":${JSON.stringify(description)}` : ''}}`
