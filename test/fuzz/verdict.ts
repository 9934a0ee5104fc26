/** What every answer must be, however mad the question: no defect, in the envelope, and silent about secrets. */
import type { Known, Request } from './requests.ts'
import type { Reply } from './wire.ts'

/** Served as other people read them, not in the envelope. */
const bare = /^\/($|docs|metrics|openapi\.json|\.well-known)|\/events$/

/** Anything that has the shape of a secret, whoever's it is. */
const shapes = [
  /\d{6,15}(:|%3a)[\w-]{43}/i,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]{20}/,
  /\bchp_[a-z]{3}_[0-9A-Za-z]{10}/,
  // All but the number that a refusal gives as an example.
  /\+1(415|650)555(?!0123)\d{4}/,
]

/** What is wrong with an answer; undefined when nothing is. */
export function defectOf(request: Request, reply: Reply, known: Known): string | undefined {
  const { status, headers, body } = reply
  if (!/^[\w-]{22}$/.test(headers.get('x-request-id') ?? '')) return 'it has no id'
  if (!headers.has('content-security-policy')) return 'it has no security headers'
  if (request.isHead || status === 304) return status >= 500 ? `it is ${status}` : undefined
  if (status < 400)
    return bare.test(request.operation.path) ? undefined : defectOfSuccess(body, headers)
  return defectOfFailure(reply, known)
}

function defectOfSuccess(body: string, headers: Reply['headers']): string | undefined {
  const type = headers.get('content-type') ?? ''
  if (/^text\/(html|csv)/.test(type)) return undefined
  if (type.startsWith('application/x-ndjson')) {
    const lines = body.split('\n').filter(Boolean)
    return lines.every(parsed) ? undefined : 'it is no lines of JSON'
  }
  const answer = parsed(body)
  return answer?.ok === true ? undefined : 'it is not in the envelope'
}

function defectOfFailure({ status, headers, body }: Reply, known: Known): string | undefined {
  const answer = parsed(body)
  if (!answer) return 'it is not JSON'
  const { ok, error_code, description, parameters } = answer
  const isEnvelope = ok === false && error_code === status && typeof description === 'string'
  if (!isEnvelope || description === '') return 'it is not in the envelope'
  // A late platform is told as such; whoever is to come back is told when.
  const isDecided = status === 504 || (status === 503 && parameters?.retry_after > 0)
  if (status >= 500 && !isDecided) return `it is ${status}`
  if (status === 429 && headers.get('retry-after') !== `${parameters?.retry_after}`) {
    return 'it does not say when to come back'
  }
  const secret = secretIn(body, known)
  return secret && `it shows ${secret}`
}

function parsed(body: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

export function secretIn(text: string, { secrets }: Known): string | undefined {
  return secrets.find((secret) => text.includes(secret)) ?? shapes.find((s) => s.test(text))?.source
}
