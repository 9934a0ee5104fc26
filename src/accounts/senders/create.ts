/** The senders of one-time codes: console, mail, and the HTTP API of an SMS provider. */

import { request } from 'undici'
import { PermanentFailure } from '../../jobs/jobs.ts'
import { beginningOf } from '../../net/fetch.ts'
import { createGuardedAgent, SHORT_ANSWER_BYTES } from '../../net/guard.ts'
import { openMailer } from '../../net/mail.ts'
import {
  type CodeMessage,
  type HttpOptions,
  type OtpSender,
  type OtpSenderOptions,
  SEND_MILLISECONDS,
  type SmtpOptions,
} from './sender.ts'

/** Prints codes, for trying the service out: every reader of the output can sign in. */
function consoleSender(print: (line: string) => void): OtpSender {
  return {
    channel: 'console',
    async send({ phone, code }) {
      print(`Sign-in code for ${phone}: ${code}`)
    },
    async close() {},
  }
}

type Escape = (value: string) => string

const inJson: Escape = (value) => JSON.stringify(value).slice(1, -1)
const asIs: Escape = (value) => value

/** Escapes a value for a body of this content type. */
function escapeFor(contentType: string): Escape {
  if (/json/i.test(contentType)) return inJson
  if (/urlencoded/i.test(contentType)) return encodeURIComponent
  return asIs
}

/** Replaces the placeholders of a template by the values of a message. */
function fill(template: string, { phone, code, text }: CodeMessage, escaped: Escape): string {
  const values: Readonly<Record<string, string>> = { phone, digits: phone.slice(1), code, text }
  return template.replace(/\{(phone|digits|code|text)\}/g, (_, name) => escaped(values[name] ?? ''))
}

const MAX_REPLY_BYTES = 64 * 1024

/** Sends codes through the HTTP API of an SMS provider. */
export function httpSender(options: HttpOptions): OtpSender {
  const headers = lowerCaseNames(options.headers ?? {})
  const escaped = escapeFor(headers['content-type'] ?? '')
  // Redirects are not followed, since they would carry the key. The operator names the provider, wherever it is.
  const dispatcher = createGuardedAgent({ allowPrivate: true, answerBytes: SHORT_ANSWER_BYTES })

  const post = (message: CodeMessage, signal: AbortSignal) =>
    request(fill(options.url, message, encodeURIComponent), {
      dispatcher,
      signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MILLISECONDS.sms)]),
      method: options.method ?? 'POST',
      headers: { 'user-agent': 'Chapar', ...filled(headers, message) },
      ...(options.body !== undefined && { body: fill(options.body, message, escaped) }),
    }).catch((cause) => {
      // An error of the resolver has its code within.
      const code = cause.code ?? cause.cause?.code ?? cause.name
      throw new Error(`the SMS provider did not answer: ${code}`)
    })

  return {
    channel: 'sms',
    async send(message, signal) {
      const { statusCode: status, body } = await post(message, signal)
      // Whatever becomes of the rest: a provider that has said yes has the message, and another try would send it twice.
      const said = (await beginningOf(body, { bytes: MAX_REPLY_BYTES })).toString()
      if (isRefusedStatus(status)) throw new PermanentFailure(`the SMS provider answered ${status}`)
      if (status < 200 || status > 299) throw new Error(`the SMS provider answered ${status}`)
      if (options.expect && !said.includes(options.expect)) {
        throw new Error('the SMS provider did not confirm the message')
      }
    },
    close: () => dispatcher.close(),
  }
}

/** 4xx answers mean a wrong request, except those that ask to try again later. */
const isRefusedStatus = (status: number) =>
  status >= 300 && status < 500 && ![408, 425, 429].includes(status)

const lowerCaseNames = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const filled = (headers: Readonly<Record<string, string>>, message: CodeMessage) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, fill(value, message, asIs)]),
  )

/** Sends codes by mail, for operators whose users' phones map to addresses. */
export function smtpSender({ url, from, to, subject }: SmtpOptions): OtpSender {
  const mailer = openMailer(url, SEND_MILLISECONDS.email)

  return {
    channel: 'email',
    async send(message, signal) {
      const mail = {
        id: message.id,
        from,
        to: fill(to, message, asIs),
        subject: subject ?? 'Your sign-in code',
        text: message.text,
      }
      await mailer.send(mail, signal)
    },
    async close() {
      mailer.close()
    },
  }
}

interface SenderContext {
  readonly production: boolean
  /** Shows a line to the operator who started the service. */
  readonly print: (line: string) => void
}

export function createSender(
  options: OtpSenderOptions,
  { production, print }: SenderContext,
): OtpSender {
  if (options.kind === 'smtp') return smtpSender(options)
  if (options.kind === 'http') return httpSender(options)
  if (production) {
    throw new Error(
      'OTP_SENDER: "console" shows the codes to everybody who reads the output; not in production',
    )
  }
  return consoleSender(print)
}
