/** The method call that an answer to a delivery may carry: read like the body of an ordinary call. */
import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import type { ApiKeyActor } from '../../actors/api-key.ts'
import { Arguments } from '../bot-api/arguments.ts'
import type { Asked } from '../bot-api/carry-out.ts'
import { formEntries, utf8 } from '../http/bot/form.ts'
import { jsonEntries } from '../http/bot/json.ts'
import type { Reply } from './exchange.ts'

const INFLATED_BYTES = 65_536
const TAKES_MS = 60_000
const inflaters = { gzip: promisify(gunzip), deflate: promisify(inflate) }

/** Asking makes no sense where nobody reads the answer, and a receiver must not turn itself off by accident. */
const unheeded = /^(get|(setwebhook|deletewebhook|close|logout)$)/i

/** Undefined where there is none, or none that may be made this way. */
export async function callIn(reply: Reply): Promise<Arguments | undefined> {
  if (reply.body.length === 0) return undefined
  try {
    const args = new Arguments(entriesOf(reply.type, await plain(reply)))
    const method = args.text('method')
    return method === undefined || unheeded.test(method) ? undefined : args
  } catch {
    // What is no call is an answer like any other.
    return undefined
  }
}

/** The call as an ordinary one of this key; nobody waits for it, so it has a time of its own. */
export function replyCall(key: ApiKeyActor, args: Arguments, traceId: string): Asked {
  const signal = AbortSignal.timeout(TAKES_MS)
  return {
    method: args.text('method') ?? '',
    key,
    args,
    uploads: new Map(),
    traceId,
    signal: () => signal,
    leaving: () => signal,
  }
}

function entriesOf(type: string, body: Buffer): Iterable<readonly [string, string]> {
  if (/^application\/json/i.test(type)) return jsonEntries(utf8(body))
  if (/^application\/x-www-form-urlencoded/i.test(type)) {
    return formEntries(body.toString('latin1'))
  }
  return []
}

async function plain({ body, encoding }: Reply): Promise<Buffer> {
  const unpack = inflaters[encoding.toLowerCase() as keyof typeof inflaters]
  return unpack ? await unpack(body, { maxOutputLength: INFLATED_BYTES }) : body
}
