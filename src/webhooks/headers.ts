/** Headers that an owner adds to the deliveries of a webhook: which names and values may be added, and which stay. */
import { invalidField } from '../../machines/model/failure.ts'
import type { WebhookHeader, WebhookTarget } from '../../machines/webhook/terms.ts'
import { webhookUrl } from './address.ts'

/** Without `value`, the stored one stays. */
interface GivenHeader {
  readonly name: string
  readonly value?: string
}

type Refusal = 'header_name' | 'header_empty' | 'header_value'

/** Headers that frame and route the request, or prove that it comes from this service. */
const reserved =
  /^(host|date|expect|connection|keep-alive|te|trailer|transfer-encoding|upgrade|accept-encoding|user-agent|via|forwarded|x-telegram-bot-api-secret-token)$|^(content|proxy|webhook|sec|x-forwarded)-/

const token = /^[!#$%&'*+.^_`|~\da-z-]+$/
/** Visible ASCII characters, with spaces and tabs only between them. */
const text = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/

/** `current` is the webhook that is set. */
export function headersFrom(
  given: readonly GivenHeader[],
  next: Address,
  current: WebhookTarget | undefined,
): WebhookHeader[] {
  const stored = new Map(headersAt(next, current).map(({ name, value }) => [name, value]))
  const found = new Map<string, string>()
  for (const [
    at,
    { name: written, value = stored.get(written.toLowerCase()) },
  ] of given.entries()) {
    const name = written.toLowerCase()
    const refuse = (part: 'name' | 'value', problem: string, reason: Refusal) =>
      invalidField(`headers.${at}.${part}`, problem, { reason, params: { place: at + 1 } })
    if (!token.test(name)) throw refuse('name', 'is no name of a header', 'header_name')
    if (reserved.test(name)) {
      throw refuse('name', 'is a header that the service sets itself', 'header_name')
    }
    if (found.has(name)) throw refuse('name', 'is there twice', 'header_name')
    if (value === undefined) {
      throw refuse('value', 'is required: none is stored for this address', 'header_empty')
    }
    if (!text.test(value)) {
      throw refuse('value', 'may have visible ASCII characters only', 'header_value')
    }
    found.set(name, value)
  }
  return [...found].map(([name, value]) => ({ name, value }))
}

type Address = Pick<WebhookTarget, 'url' | 'ipAddress' | 'certificate'>

/**
 * The headers that stay when the webhook is moved. A holder of the key may move it, and must not learn their values:
 * they go to the same origin only, not to an IP address or a certificate of the holder's choice.
 */
export function headersAt(
  next: Address,
  current: (Address & Pick<WebhookTarget, 'headers'>) | undefined,
): readonly WebhookHeader[] {
  if (!current?.headers) return []
  const isSame =
    webhookUrl(current.url).origin === webhookUrl(next.url).origin &&
    current.ipAddress === next.ipAddress &&
    current.certificate === next.certificate
  return isSame ? current.headers : []
}
