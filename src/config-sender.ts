/** Which sender of one-time codes the environment names, and its settings. */
import { kavenegar, twilio } from './accounts/senders/presets.ts'
import type { HttpOptions, OtpSenderOptions } from './accounts/senders/sender.ts'

type Source = Readonly<Record<string, string | undefined>>

export function otpSenderFrom(env: Source): OtpSenderOptions {
  const kind = env.OTP_SENDER || 'console'
  if (kind === 'console') return { kind }
  if (kind === 'smtp') {
    return {
      kind,
      url: needed(env, 'SMTP_URL'),
      from: needed(env, 'OTP_FROM'),
      to: needed(env, 'OTP_TO_TEMPLATE'),
      ...(env.OTP_SUBJECT && { subject: env.OTP_SUBJECT }),
    }
  }
  if (kind === 'http') return { kind, ...httpFrom(env) }
  throw new Error('configuration: OTP_SENDER must be console, smtp or http')
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
        url: needed(env, 'OTP_HTTP_URL'),
        method: env.OTP_HTTP_METHOD === 'GET' ? 'GET' : 'POST',
        ...(env.OTP_HTTP_HEADERS && { headers: headersFrom(env.OTP_HTTP_HEADERS) }),
        ...(env.OTP_HTTP_BODY && { body: env.OTP_HTTP_BODY }),
        ...(env.OTP_HTTP_EXPECT && { expect: env.OTP_HTTP_EXPECT }),
      }
    default:
      throw new Error('configuration: OTP_HTTP_PRESET must be kavenegar or twilio')
  }
}

function headersFrom(json: string): Record<string, string> {
  const message = 'configuration: OTP_HTTP_HEADERS must be a JSON object of strings'
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, `${text}`]))
    }
  } catch (cause) {
    throw new Error(message, { cause })
  }
  throw new Error(message)
}

function needed(env: Source, name: string): string {
  const value = env[name]
  if (!value) throw new Error(`configuration: ${name} is needed for this OTP_SENDER`)
  return value
}
