/** What a platform can be asked to do, in terms no network owns; ids are native unless typed otherwise. */
import type { Buttons, Chat, Content, Message } from './content.ts'

/** `Place` names a chat, `Item` a message in it: native strings towards a session, integers towards a client. */
export type Operation<Place = string, Item = string> =
  | {
      readonly kind: 'send'
      readonly chat: Place
      readonly content: Content
      readonly replyTo?: Item
      /** Send without the reply when its target is gone. */
      readonly replyOptional?: boolean
      readonly silent?: boolean
      readonly buttons?: Buttons
    }
  | {
      readonly kind: 'edit'
      readonly chat: Place
      readonly message: Item
      readonly content: Content
      readonly buttons?: Buttons
    }
  | { readonly kind: 'delete'; readonly chat: Place; readonly message: Item }
  | {
      readonly kind: 'forward' | 'copy'
      readonly chat: Place
      readonly from: Place
      readonly message: Item
      readonly silent?: boolean
      /** Only of a copy. */
      readonly replyTo?: Item
      readonly buttons?: Buttons
    }
  /** Typing and its kind; `action` is the reference's name. */
  | { readonly kind: 'act'; readonly chat: Place; readonly action: string }
  | {
      readonly kind: 'answer'
      readonly callback: string
      readonly text?: string
      readonly alert?: boolean
      readonly url?: string
    }
  /** Finds a chat by its public name, given without the at sign. */
  | { readonly kind: 'resolve'; readonly name: string }
  | { readonly kind: 'describe'; readonly chat: Place }

export type OperationKind = Operation['kind']

/** A chat as clients name it: the integer of `chat_id`, or `@name`. */
export type PublicChat = number | `@${string}`
export type PublicOperation = Operation<PublicChat, number>

/** What `Session.perform` resolves with, by operation. */
export type OperationResult =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'chat'; readonly chat: Chat }
  | { readonly kind: 'done' }
