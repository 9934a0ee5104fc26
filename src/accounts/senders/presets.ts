/** SMS providers whose requests are known. */
import type { HttpOptions } from './sender.ts'

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
