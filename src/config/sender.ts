/** Which sender of one-time codes the environment names, and its settings. */
import type { HttpOptions, OtpSenderOptions } from '../accounts/senders/sender.ts'
import { ConfigurationError } from './environment.ts'

type Source = Readonly<Record<string, string | undefined>>

export function otpSenderFrom(env: Source, production: boolean): OtpSenderOptions {
  const kind = env.OTP_SENDER || 'console'
  if (kind === 'console') {
    if (!production) return { kind }
    // Everybody who reads the output would see the codes.
    throw new ConfigurationError('OTP_SENDER must be smtp or http in production')
  }
  if (kind === 'smtp') {
    return {
      kind,
      url: address(env, 'SMTP_URL', ['smtp:', 'smtps:']),
      from: needed(env, 'OTP_FROM'),
      to: needed(env, 'OTP_TO_TEMPLATE'),
      ...(env.OTP_SUBJECT && { subject: env.OTP_SUBJECT }),
    }
  }
  if (kind === 'http') return { kind, ...httpFrom(env) }
  throw new ConfigurationError('OTP_SENDER must be console, smtp or http')
}

export interface MailSettings {
  /** `smtp://user:password@host:587`, or `smtps:`. */
  readonly url: string
  readonly from: string
}

/** Mail that is no code. Undefined where it is not set up: `SMTP_URL` alone is for codes. */
export function mailFrom(env: Source): MailSettings | undefined {
  if (!env.SMTP_FROM) return undefined
  if (!env.SMTP_URL) throw new ConfigurationError('SMTP_URL must be set with SMTP_FROM')
  return { url: address(env, 'SMTP_URL', ['smtp:', 'smtps:']), from: env.SMTP_FROM }
}

function httpFrom(env: Source): HttpOptions {
  switch (env.OTP_HTTP_PRESET || 'none') {
    case 'kavenegar':
      return kavenegar({
        apiKey: needed(env, 'KAVENEGAR_API_KEY'),
        template: needed(env, 'KAVENEGAR_TEMPLATE'),
      })
    case 'twilio':
      return twilio({
        account: needed(env, 'TWILIO_ACCOUNT_SID'),
        token: needed(env, 'TWILIO_AUTH_TOKEN'),
        from: needed(env, 'OTP_FROM'),
      })
    case 'none':
      return {
        url: address(env, 'OTP_HTTP_URL', ['http:', 'https:']),
        method: methodFrom(env.OTP_HTTP_METHOD || 'POST'),
        ...(env.OTP_HTTP_HEADERS && { headers: headersFrom(env.OTP_HTTP_HEADERS) }),
        ...(env.OTP_HTTP_BODY && { body: env.OTP_HTTP_BODY }),
        ...(env.OTP_HTTP_EXPECT && { expect: env.OTP_HTTP_EXPECT }),
      }
    default:
      throw new ConfigurationError('OTP_HTTP_PRESET must be kavenegar or twilio')
  }
}

function methodFrom(method: string): 'GET' | 'POST' {
  if (method === 'GET' || method === 'POST') return method
  throw new ConfigurationError('OTP_HTTP_METHOD must be GET or POST')
}

function headersFrom(json: string): Record<string, string> {
  const headers = parsed(json)
  if (headers && Object.values(headers).every((value) => typeof value === 'string')) {
    return headers as Record<string, string>
  }
  throw new ConfigurationError('OTP_HTTP_HEADERS must be a JSON object of strings')
}

function parsed(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    // The parser's own message repeats the text, and with it the secret of a header.
    return undefined
  }
}

function address(env: Source, name: string, protocols: readonly string[]): string {
  const url = needed(env, name)
  if (protocols.includes(URL.parse(url)?.protocol ?? '')) return url
  throw new ConfigurationError(`${name} must be an address with ${protocols.join(' or ')}`)
}

function needed(env: Source, name: string): string {
  const value = env[name]
  if (!value) throw new ConfigurationError(`${name} is needed for this OTP_SENDER`)
  return value
}

/** Kavenegar's verification service: the message is a template that the provider has approved. */
export function kavenegar(options: {
  readonly apiKey: string
  readonly template: string
}): HttpOptions {
  const key = encodeURIComponent(options.apiKey)
  const template = encodeURIComponent(options.template)
  return {
    method: 'POST',
    url: `https://api.kavenegar.com/v1/${key}/verify/lookup.json`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `receptor={phone}&token={code}&template=${template}`,
  }
}

/** Twilio's Messages resource; `from` is a number or the name of a sender. */
export function twilio(options: {
  readonly account: string
  readonly token: string
  readonly from: string
}): HttpOptions {
  const { account, token, from } = options
  return {
    method: 'POST',
    url: `https://api.twilio.com/2010-04-01/Accounts/${encodeURIComponent(account)}/Messages.json`,
    headers: {
      authorization: `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: `To={phone}&From=${encodeURIComponent(from)}&Body={text}`,
  }
}
