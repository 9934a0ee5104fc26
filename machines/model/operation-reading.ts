/** Operations by which an account reads: its list of chats, their history, how far they are read, who has a phone. */
import type { Chat, Message } from './content.ts'
import type { DirectTerms } from './payment.ts'

export const READING_OPERATIONS = [
  'list_chats',
  'read_history',
  'mark_read',
  'resolve_phone',
] as const

/** With a person: only their conversation of a channel's direct messages. */
type Conversation<Place> = Pick<DirectTerms<Place>, 'directTopic'>

export type ReadingOperation<Place, Item> =
  /** The chats with the newest messages come first. */
  | {
      readonly kind: 'list_chats'
      readonly limit: number
      /** Goes on where an earlier page ended: its `next`. */
      readonly after?: string
    }
  /** The newest messages come first. With a message: only those before it. */
  | (Conversation<Place> & {
      readonly kind: 'read_history'
      readonly chat: Place
      readonly message?: Item
      readonly limit: number
    })
  /** All messages up to this one count as read; without a message: all of the chat. */
  | (Conversation<Place> & {
      readonly kind: 'mark_read'
      readonly chat: Place
      readonly message?: Item
    })
  /** Finds the person with this phone number: a plus sign and digits. */
  | { readonly kind: 'resolve_phone'; readonly phone: string }

export interface PastMessage {
  readonly message: Message
  /** Written by the account itself. */
  readonly isOwn: boolean
}

export interface ListedChat {
  readonly chat: Chat
  readonly last?: PastMessage
  /** How many messages of others are not read; absent where the network does not count them. */
  readonly unread?: number
}

/** A page of the account's chats, or of one chat's messages; newest first. */
export type ReadingOutcome =
  | { readonly kind: 'chats'; readonly chats: readonly ListedChat[]; readonly next?: string }
  | { readonly kind: 'history'; readonly messages: readonly PastMessage[] }
