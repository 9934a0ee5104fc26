/** The port of senders of one-time codes, and their options. */

export interface CodeMessage {
  /** Of this code, at every try to send it. */
  readonly id: string
  /** In E.164 form. */
  readonly phone: string
  readonly code: string
  /** The whole message, the code included. */
  readonly text: string
}

export interface OtpSender {
  /** Shown to the user, so that they know where the code arrives: `console`, `email`, `sms`. */
  readonly channel: string
  /** Resolves once the provider has accepted the message. Rejects with `PermanentFailure` if another try would fail too. */
  send(message: CodeMessage, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** One attempt, from connecting to the answer. Mail servers may look at what they get before they answer. */
export const SEND_MILLISECONDS = { sms: 10_000, email: 25_000 }

export type OtpSenderOptions =
  | { readonly kind: 'console' }
  | ({ readonly kind: 'smtp' } & SmtpOptions)
  | ({ readonly kind: 'http' } & HttpOptions)

export interface SmtpOptions {
  /** `smtp://user:password@host:587`, or `smtps:`. */
  readonly url: string
  readonly from: string
  /** How a phone becomes an address: `{digits}@sms.example.com`, with `{phone}` or `{digits}`. */
  readonly to: string
  readonly subject?: string
}

/**
 * `{phone}`, `{digits}`, `{code}` and `{text}` are filled in: escaped for a URL, and in the body as its content type
 * asks for.
 */
export interface HttpOptions {
  readonly method?: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Text that the answer must contain, for providers that answer 200 also for failures. */
  readonly expect?: string
}
