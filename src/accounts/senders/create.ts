/** The sender that the configuration names. */
import { consoleSender } from './console.ts'
import { httpSender } from './http.ts'
import type { OtpSender, OtpSenderOptions } from './sender.ts'
import { smtpSender } from './smtp.ts'

export interface Surroundings {
  readonly production: boolean
  /** Shows a line to whoever started the service. */
  readonly print: (line: string) => void
}

export function createSender(
  options: OtpSenderOptions,
  { production, print }: Surroundings,
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
