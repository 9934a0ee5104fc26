/** Sends codes by mail, for operators whose users' phones map to addresses. */
import { createTransport } from 'nodemailer'
import { PermanentFailure } from '../../jobs/jobs.ts'
import { type OtpSender, SEND_MILLISECONDS, type SmtpOptions } from './sender.ts'
import { asIs, fill } from './template.ts'

export function smtpSender({ url, from, to, subject }: SmtpOptions): OtpSender {
  const transport = createTransport({
    url,
    connectionTimeout: SEND_MILLISECONDS,
    greetingTimeout: SEND_MILLISECONDS,
    socketTimeout: SEND_MILLISECONDS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })

  return {
    channel: 'email',
    async send(message, signal) {
      const total = AbortSignal.any([signal, AbortSignal.timeout(SEND_MILLISECONDS)])
      const mail = {
        from,
        to: fill(to, message, asIs),
        subject: subject ?? 'Your sign-in code',
        text: message.text,
      }
      try {
        await Promise.race([transport.sendMail(mail), aborted(total)])
      } catch (error) {
        throw isRefusal(error) ? new PermanentFailure(describe(error)) : new Error(describe(error))
      }
    },
    async close() {
      transport.close()
    },
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  return promise
}

interface SmtpError extends Error {
  readonly responseCode?: number
  readonly code?: string | number
}

/** A 5xx reply is final by the protocol. */
const isRefusal = (error: unknown) => ((error as SmtpError).responseCode ?? 0) >= 500

/** Without the server's words, which may repeat the address. */
function describe(error: unknown): string {
  const { responseCode, code, name } = error as SmtpError
  const reason = responseCode ?? (typeof code === 'string' ? code : name)
  return `the mail server did not take the message: ${reason}`
}
