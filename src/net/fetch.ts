/** Requests to addresses that users name: guarded, limited in time, read only as far as asked. */
import type { Readable } from 'node:stream'
import { type Dispatcher, request } from 'undici'

/** The URL cannot be requested. `reason` is in the reference's words. */
export class UrlRefused extends Error {
  override readonly name = 'UrlRefused'
  readonly reason: string

  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.reason = reason
  }
}

interface FetchOptions {
  /** A guarded agent; its limits apply as well. */
  readonly agent: Dispatcher
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | Readable
  /** For everything, from the name's resolution to the last byte. */
  readonly totalMs: number
  readonly signal?: AbortSignal
  /** How many redirects a GET follows. The headers given here go to the first address only. */
  readonly redirects?: number
}

export interface OpenResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Has to be read to its end or destroyed. */
  readonly body: Readable
}

const LONGEST_HOST = 253

export function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new UrlRefused('Host is invalid')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UrlRefused('Unsupported URL protocol')
  }
  if (url.hostname.length > LONGEST_HOST || url.username !== '' || url.password !== '') {
    throw new UrlRefused('Host is invalid')
  }
  return url
}

/** Resolves with the headers; the time limit goes on over the body. */
export async function openUrl(url: string | URL, options: FetchOptions): Promise<OpenResponse> {
  const { agent, method = 'GET', body, totalMs, redirects = 0 } = options
  const limit = AbortSignal.timeout(totalMs)
  const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit
  const follow = method === 'GET' ? redirects : 0
  let target = parseUrl(String(url))
  for (let hop = 0; ; hop++) {
    const response = await request(target, {
      dispatcher: agent,
      method,
      signal,
      headers: {
        'user-agent': 'Chapar',
        'accept-encoding': 'identity',
        ...(hop === 0 && options.headers),
      },
      headersTimeout: totalMs,
      bodyTimeout: totalMs,
      ...(body !== undefined && { body }),
    })
    const { statusCode: status, headers } = response
    const next = status >= 300 && status < 400 && hop < follow ? headers.location : undefined
    if (typeof next !== 'string') return { status, headers, body: response.body }
    response.body.on('error', ignored).destroy()
    target = redirected(next, target)
  }
}

/**
 * What has come of an answer until it ended, broke off, was long enough or took too long. For those whom the status tells
 * what was done: the rest decides nothing, and its connection is closed.
 */
export async function beginningOf(
  body: Readable,
  most: { readonly bytes: number; readonly ms?: number },
): Promise<Buffer> {
  const late = most.ms === undefined ? undefined : setTimeout(() => body.destroy(), most.ms)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      bytes += chunk.length
      // To leave the loop destroys the body.
      if (bytes >= most.bytes) break
    }
  } catch {
    // It broke off, or took too long.
  } finally {
    clearTimeout(late)
  }
  return Buffer.concat(chunks).subarray(0, most.bytes)
}

function redirected(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href)) throw new UrlRefused('Host is invalid')
  return parseUrl(new URL(location, from.href).href)
}

/** Ignores errors of a body that is not read. */
const ignored = () => undefined
