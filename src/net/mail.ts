/** Mail over SMTP, to one address at a time and within a time limit. */
import { createTransport } from 'nodemailer'
import { PermanentFailure } from '../jobs/jobs.ts'

interface Mail {
  /** Unique, and the same at every try: one whose answer came too late is recognized when it comes again. */
  readonly id: string
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** Resolves once the server has taken the mail. Rejects with `PermanentFailure` if another try would fail too. */
  send(mail: Mail, signal: AbortSignal): Promise<void>
  close(): void
}

/** `totalMs` is for one mail, from connecting to the answer. */
export function openMailer(url: string, totalMs: number): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: totalMs,
    greetingTimeout: totalMs,
    socketTimeout: totalMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ id, ...mail }, signal) {
      const total = AbortSignal.any([signal, AbortSignal.timeout(totalMs)])
      try {
        const messageId = `<${id}@${hostOf(mail.from)}>`
        await transport.sendMail({ ...mail, messageId, signal: total })
      } catch (error) {
        if (total.aborted) throw new Error(describe(total.reason))
        throw isFinalReply(error)
          ? new PermanentFailure(describe(error))
          : new Error(describe(error))
      }
    },
    close: () => transport.close(),
  }
}

/** Of an address, with or without a name before it. */
const hostOf = (address: string): string => /@([^\s@>]+)>?\s*$/.exec(address)?.[1] ?? 'localhost'

interface SmtpError extends Error {
  readonly responseCode?: number
  readonly code?: string | number
}

/** A 5xx reply is final by the protocol. */
const isFinalReply = (error: unknown) => ((error as SmtpError).responseCode ?? 0) >= 500

/** The error without the server's text, which may contain the address. */
function describe(error: unknown): string {
  const { responseCode, code, name } = error as SmtpError
  const reason = responseCode ?? (typeof code === 'string' ? code : name)
  return `the mail server did not take the message: ${reason}`
}
