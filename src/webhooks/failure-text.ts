/** Why an attempt failed, in the reference's words, which tell nothing of the inside of this network. */
import { AddressRefused } from '../net/guard.ts'

const refused = ['ECONNREFUSED']
const timedOut = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH']
const reset = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']
const unresolved = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL']

export const TIMED_OUT = 'Read timeout expired'

export function failureText(error: unknown): string {
  const causes = [...chain(error)]
  if (causes.some((cause) => cause instanceof AddressRefused)) return 'IP address is reserved'
  for (const cause of causes) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    if (refused.includes(code)) return 'Connection refused'
    if (timedOut.includes(code)) return 'Connection timed out'
    if (unresolved.includes(code)) return 'Failed to resolve host: Name or service not known'
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return "The header of the webhook's answer is too long"
    if (isOfTls(code)) return `SSL error {${cause.message}}`
    if (reset.includes(code)) return 'Connection reset by peer'
    if (code.startsWith('HPE_')) return "The webhook's answer is not HTTP"
  }
  return "Can't connect to the webhook"
}

const isOfTls = (code: string) => /CERT|SSL|TLS|SELF_SIGNED|ISSUER|UNABLE_TO|EPROTO|CRL/.test(code)

/** Dialling several addresses ends in one error that holds those of all. */
function* chain(error: unknown): IterableIterator<Error> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    yield cause
    if (cause instanceof AggregateError) for (const inner of cause.errors) yield* chain(inner)
    cause = cause.cause
  }
}
