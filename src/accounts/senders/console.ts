/** Shows codes to whoever started the service. For trying it out: everybody who reads the output can sign in. */
import type { OtpSender } from './sender.ts'

export function consoleSender(print: (line: string) => void): OtpSender {
  return {
    channel: 'console',
    async send({ phone, code }) {
      print(`Sign-in code for ${phone}: ${code}`)
    },
    async close() {},
  }
}
