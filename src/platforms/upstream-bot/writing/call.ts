/** What an operation becomes: one call, and how to read what it resolves with. */
import type { Buttons } from '../../../../machines/model/content.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import type { ReplyKeyboard } from '../../../../machines/model/reply-keyboard.ts'
import { replyKeyboardJson } from '../../reply-keyboard.ts'
import type { Flavour } from '../flavour.ts'
import type { Attachments } from '../multipart.ts'
import { messageOf } from '../reading/message.ts'
import { markupOf } from './text.ts'

export interface Call {
  readonly method: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** Throws `Malformed` where the result is not what the method promises. */
  read(result: unknown): OperationResult
}

/** What calls are written with. */
export interface Pen {
  readonly flavour: Flavour
  readonly attachments: Attachments
  /** The account's own native id. */
  readonly self: string
}

export const toMessage = (result: unknown): OperationResult => ({
  kind: 'message',
  message: messageOf(result),
})

export const toDone = (): OperationResult => ({ kind: 'done' })

interface Delivery {
  readonly topic?: string
  readonly replyTo?: string
  readonly replyOptional?: boolean
  readonly silent?: boolean
  readonly isProtected?: boolean
  readonly buttons?: Buttons
  readonly keyboard?: ReplyKeyboard
}

/** What every kind of sending may ask for. */
export function deliveryOf(
  { topic, replyTo, replyOptional, silent, isProtected, buttons, keyboard }: Delivery,
  { hasReplyParameters }: Flavour,
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
