/** What every operation gets of its session: calls of the bot API for one request, and the parameters they share. */
import type { Request } from '../../../../actors/ports/platform.ts'
import type { Buttons } from '../../../../machines/model/content.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import type { ReplyKeyboard } from '../../../../machines/model/reply-keyboard.ts'
import type { MediaService } from '../../../media/media.ts'
import { replyKeyboardJson } from '../../kit/reply-keyboard.ts'
import type { Client } from '../client.ts'
import type { Dialect } from '../dialect.ts'
import { Unanswered } from '../failures.ts'
import { Attachments, formOf } from '../multipart.ts'
import { messageOf } from '../reading/message.ts'
import { markupOf } from './text.ts'

interface ContextOptions extends Request {
  readonly client: Pick<Client, 'call'>
  readonly dialect: Dialect
  readonly media: Pick<MediaService, 'open' | 'facts'>
  /** The account's own native id. */
  readonly self: string
}

type Read = (result: unknown) => OperationResult

export class Context implements Request {
  readonly dialect: Dialect
  readonly self: string
  readonly requestId: string
  readonly signal: AbortSignal
  readonly attachments = new Attachments()
  readonly #client: Pick<Client, 'call'>
  readonly #media: ContextOptions['media']

  constructor({ client, dialect, media, self, requestId, signal }: ContextOptions) {
    this.dialect = dialect
    this.self = self
    this.requestId = requestId
    this.signal = signal
    this.#client = client
    this.#media = media
  }

  /**
   * Calls a method with the parameters and the attachments. `read` throws `Malformed` where the result is not what the
   * method promises. Rejects with `Refused` or `Unanswered`.
   */
  async call(method: string, parameters: object, read: Read = toDone): Promise<OperationResult> {
    const { dialect, signal } = this
    const name = dialect.methods[method] ?? method
    const { files } = this.attachments
    const form = files.length > 0 ? await formOf(parameters, files, this.#media) : undefined
    const result = await this.#client.call(name, parameters, { signal, ...(form && { form }) })
    try {
      return read(result)
    } catch (cause) {
      throw new Unanswered('garbage', `the result of ${name} is not what it promises`, { cause })
    }
  }
}

const toDone: Read = () => ({ kind: 'done' })

export const toMessage: Read = (result) => ({ kind: 'message', message: messageOf(result) })

interface Delivery {
  readonly topic?: string
  readonly replyTo?: string
  readonly replyOptional?: boolean
  readonly silent?: boolean
  readonly isProtected?: boolean
  readonly buttons?: Buttons
  readonly keyboard?: ReplyKeyboard
}

/** The parameters that every sending method takes. */
export function deliveryOf(
  { topic, replyTo, replyOptional, silent, isProtected, buttons, keyboard }: Delivery,
  { hasReplyParameters }: Dialect,
) {
  return {
    ...threadOf(topic),
    ...(replyTo !== undefined && replyJson(Number(replyTo), replyOptional, hasReplyParameters)),
    ...(silent && { disable_notification: true }),
    ...(isProtected && { protect_content: true }),
    ...markupOf(buttons),
    ...(keyboard && { reply_markup: replyKeyboardJson(keyboard) }),
  }
}

export const threadOf = (topic: string | undefined) =>
  topic === undefined ? {} : { message_thread_id: Number(topic) }

function replyJson(message_id: number, optional: boolean | undefined, isNew: boolean) {
  const lenient = optional && { allow_sending_without_reply: true }
  return isNew
    ? { reply_parameters: { message_id, ...lenient } }
    : { reply_to_message_id: message_id, ...lenient }
}
