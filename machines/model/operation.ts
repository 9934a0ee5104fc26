/** The operations of platforms and their results, in the terms of no particular network; ids are native by default. */

import {
  BUSINESS_OPERATIONS,
  type BusinessConnection,
  type BusinessOperation,
  type ForBusiness,
} from './business.ts'
import type { Buttons, ReplyKeyboard } from './buttons.ts'
import type { Chat, Content, Message, Reaction, Surface } from './content.ts'
import { GAME_OPERATIONS, type GameOperation, type GameOutcome } from './game.ts'
import type { Gift, OwnedGiftPage } from './gift.ts'
import type { Media, StickerSet } from './media.ts'
import type { MembershipOutcome } from './membership.ts'
import {
  ADMINISTRATION_OPERATIONS,
  type AdministrationOperation,
} from './operation-administration.ts'
import { BOT_OPERATIONS, type BotOperation, type BotOutcome } from './operation-bots.ts'
import {
  CHAT_OPERATIONS,
  type ChatOperation,
  PROFILE_OPERATIONS,
  type ProfileOperation,
  type ProfileOutcome,
  TOPIC_OPERATIONS,
  type TopicOperation,
} from './operation-chats.ts'
import {
  DRAFT_OPERATIONS,
  type DraftOperation,
  EPHEMERAL_OPERATIONS,
  type EphemeralOperation,
} from './operation-ephemeral.ts'
import { GIFT_OPERATIONS, type GiftOperation } from './operation-gifts.ts'
import {
  type Change,
  INLINE_OPERATIONS,
  type InlineOperation,
  type InlineOutcome,
} from './operation-inline.ts'
import type { Passed, Passing } from './operation-passing.ts'
import {
  PAYMENT_OPERATIONS,
  type PaymentOperation,
  type PaymentOutcome,
} from './operation-payments.ts'
import {
  READING_OPERATIONS,
  type ReadingOperation,
  type ReadingOutcome,
} from './operation-reading.ts'
import { STICKER_OPERATIONS, type StickerOperation } from './operation-stickers.ts'
import { STORY_OPERATIONS, type Story, type StoryOperation } from './operation-stories.ts'
import type { DirectTerms } from './payment.ts'
import type { Person } from './person.ts'
import type { Poll } from './poll.ts'
import type { AnsweredPart, Quote, Text } from './text.ts'
import type { Topic } from './topic.ts'

/** The kinds of all operations. */
export const OPERATION_KINDS = [
  'send',
  'send_album',
  'edit',
  'edit_caption',
  'edit_buttons',
  'edit_location',
  'stop_poll',
  'delete',
  'forward',
  'copy',
  'react',
  'remove_reaction',
  'remove_all_reactions',
  'act',
  'answer',
  ...DRAFT_OPERATIONS,
  'resolve',
  'describe',
  ...CHAT_OPERATIONS,
  ...PROFILE_OPERATIONS,
  ...TOPIC_OPERATIONS,
  ...EPHEMERAL_OPERATIONS,
  ...READING_OPERATIONS,
  ...STICKER_OPERATIONS,
  ...INLINE_OPERATIONS,
  ...PAYMENT_OPERATIONS,
  ...GAME_OPERATIONS,
  ...ADMINISTRATION_OPERATIONS,
  ...STORY_OPERATIONS,
  'pass',
  ...GIFT_OPERATIONS,
  ...BUSINESS_OPERATIONS,
  ...BOT_OPERATIONS,
] as const

export type OperationKind = (typeof OPERATION_KINDS)[number]

/** The options of every operation that sends. */
interface Sending<Place, Item> extends DirectTerms<Place> {
  readonly replyTo?: Item
  /** The chat of the message answered, where it is not the one written to. */
  readonly replyFrom?: Place
  /** A part of the message answered, which must be in its text; the place nearest to `position` counts. */
  readonly quote?: Quote
  /** The task of a checklist, or the option of a poll, that is answered. */
  readonly answeredPart?: AnsweredPart
  /** Send without the reply when its target is gone. */
  readonly replyOptional?: boolean
  /** The topic of a forum to send to; absent: the general one, or that of the message answered. */
  readonly topic?: Item
  readonly silent?: boolean
  /** Recipients cannot forward it. */
  readonly isProtected?: boolean
  /** The network's number of an effect that its readers see. */
  readonly effect?: string
}

interface Changing<Place, Item> {
  readonly chat: Place
  readonly message: Item
  readonly buttons?: Buttons
}

/** For each kind of change the same operation on one message of a chat. */
type ChangeOf<Kind, Place, Item> = Kind extends Change ? Kind & Changing<Place, Item> : never

/** `Place` names a chat, `Item` a message in it: native strings towards a session, integers towards a client. */
type MessageOperation<Place, Item> =
  | ({
      readonly kind: 'send'
      readonly chat: Place
      readonly content: Content
      readonly buttons?: Buttons
      readonly keyboard?: ReplyKeyboard
    } & Sending<Place, Item>)
  /** Several media as one album: all or none. */
  | ({
      readonly kind: 'send_album'
      readonly chat: Place
      readonly contents: readonly (Content & { readonly kind: 'media' })[]
    } & Sending<Place, Item>)
  | ChangeOf<Change, Place, Item>
  | ({ readonly kind: 'stop_poll' } & Changing<Place, Item>)
  | { readonly kind: 'delete'; readonly chat: Place; readonly message: Item }
  | ({
      readonly kind: 'forward' | 'copy'
      readonly chat: Place
      readonly from: Place
      readonly message: Item
      /** Only of a video: the second from which it is played from now on. */
      readonly startSeconds?: number
      /** Only of a copy: replaces the caption. */
      readonly caption?: Text
      /** Only of a copy. */
      readonly buttons?: Buttons
      readonly keyboard?: ReplyKeyboard
    } & Sending<Place, Item>)
  | {
      readonly kind: 'react'
      readonly chat: Place
      readonly message: Item
      /** They replace the account's earlier ones; an empty list removes those. */
      readonly reactions: readonly Reaction[]
      readonly isBig?: boolean
    }
  /** Typing and its kind; `action` is the reference's name. */
  | { readonly kind: 'act'; readonly chat: Place; readonly action: string; readonly topic?: Item }

export type Operation<Place = string, Item = string> =
  | MessageOperation<Place, Item>
  | ChatOperation<Place, Item>
  | ProfileOperation<Place>
  | ReadingOperation<Place, Item>
  | InlineOperation<Place>
  | PaymentOperation<Place>
  | GameOperation<Place, Item>
  | StoryOperation<Place>
  | GiftOperation<Place>
  | BusinessOperation<Item>
  | BotOperation<Place>
  /** Carries an operation out as the owner of the business. */
  | ({ readonly kind: 'for_business' } & ForBusiness<Operation<Place, Item>>)
  /** Removes the reactions of another person. */
  | {
      readonly kind: 'remove_reaction'
      readonly chat: Place
      readonly message: Item
      readonly person: Place
    }
  /** The same in all of a chat. */
  | { readonly kind: 'remove_all_reactions'; readonly chat: Place; readonly person: Place }
  | TopicOperation<Place, Item>
  | EphemeralOperation<Place, Item>
  | DraftOperation<Place>
  | StickerOperation<Place>
  | AdministrationOperation<Place, Item>
  /** Finds a chat by its public name, given without the at sign. */
  | { readonly kind: 'resolve'; readonly name: string }
  | { readonly kind: 'describe'; readonly chat: Place }
  | Passing

/** The operations of the given kinds; where several kinds have one shape, of those kinds alone. */
export type OperationOf<Kind extends OperationKind, Shape = Operation> = Shape extends {
  readonly kind: infer Kinds
}
  ? [Kinds] extends [Kind]
    ? Shape
    : [Kind & Kinds] extends [never]
      ? never
      : Shape & { readonly kind: Kind & Kinds }
  : never

/** A chat as clients name it: the integer of `chat_id`, or `@name`. */
export type PublicChat = number | `@${string}`
export type PublicOperation = Operation<PublicChat, number>

/** The results of `Session.perform`, by operation. */
export type OperationResult =
  | { readonly kind: 'message'; readonly message: Message }
  /** The messages of an album, in its order. */
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }
  | { readonly kind: 'chat'; readonly chat: Chat }
  | { readonly kind: 'poll'; readonly poll: Poll }
  | MembershipOutcome
  | ReadingOutcome
  /** Absent if no person was found. */
  | { readonly kind: 'person'; readonly person?: Person }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'gifts'; readonly gifts: readonly Gift[] }
  | ({ readonly kind: 'owned_gifts' } & OwnedGiftPage)
  | { readonly kind: 'stars'; readonly stars: number }
  | { readonly kind: 'business'; readonly connection: BusinessConnection }
  | { readonly kind: 'topic'; readonly chat: Chat; readonly topic: Topic }
  | { readonly kind: 'stickers'; readonly set: StickerSet }
  /** Stickers of several sets. */
  | { readonly kind: 'sticker_list'; readonly stickers: readonly Media[] }
  /** A file that was uploaded for later use. */
  | { readonly kind: 'file'; readonly media: Media }
  | ProfileOutcome
  | { readonly kind: 'story'; readonly story: Story }
  | InlineOutcome
  | PaymentOutcome
  | BotOutcome
  | GameOutcome
  | Passed
  /** `surface`: the kind of chat of a deletion, if the network says it. */
  | { readonly kind: 'done'; readonly surface?: Surface }
