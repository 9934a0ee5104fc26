/** Sends codes through the HTTP API of an SMS provider. */
import { Agent, request } from 'undici'
import { PermanentFailure } from '../../jobs/jobs.ts'
import { type CodeMessage, type HttpOptions, type OtpSender, SEND_MILLISECONDS } from './sender.ts'
import { asIs, escapeFor, fill } from './template.ts'

const MAX_REPLY_BYTES = 64 * 1024

export function httpSender(options: HttpOptions): OtpSender {
  const headers = lowerCaseNames(options.headers ?? {})
  const escaped = escapeFor(headers['content-type'] ?? '')
  // A provider that answers without end is cut off here; redirects are not followed, since they would carry the key.
  const dispatcher = new Agent({ maxResponseSize: MAX_REPLY_BYTES, keepAliveTimeout: 10_000 })

  async function post(message: CodeMessage, signal: AbortSignal) {
    const reply = await request(fill(options.url, message, encodeURIComponent), {
      dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MILLISECONDS)]),
      method: options.method ?? 'POST',
      headers: { 'user-agent': 'Chapar', ...filled(headers, message) },
      ...(options.body !== undefined && { body: fill(options.body, message, escaped) }),
    })
    return { status: reply.statusCode, text: await reply.body.text() }
  }

  return {
    channel: 'sms',
    async send(message, signal) {
      const { status, text } = await post(message, signal).catch((cause) => {
        throw new Error(`the SMS provider did not answer: ${cause.code ?? cause.name}`)
      })
      if (isRefusal(status)) throw new PermanentFailure(`the SMS provider answered ${status}`)
      if (status < 200 || status > 299) throw new Error(`the SMS provider answered ${status}`)
      if (options.expect && !text.includes(options.expect)) {
        throw new Error('the SMS provider did not confirm the message')
      }
    },
    close: () => dispatcher.close(),
  }
}

/** Too early and too often may pass; the rest of these says that the request itself is wrong. */
const isRefusal = (status: number) =>
  status >= 300 && status < 500 && ![408, 425, 429].includes(status)

const lowerCaseNames = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const filled = (headers: Readonly<Record<string, string>>, message: CodeMessage) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, fill(value, message, asIs)]),
  )
