/** Messages and their contents, in the terms of no particular network. All ids here are native ones. */
import type { Buttons } from './buttons.ts'
import type { Game } from './game.ts'
import type { AcceptedGifts, OwnedGift } from './gift.ts'
import type { Location, Venue } from './location.ts'
import { MEDIA_KINDS, type Media } from './media.ts'
import type { Invoice, PaidMedia, PostFact, Receipt, SuggestedPost } from './payment.ts'
import type { ChatDetails, Community, Person } from './person.ts'
import type { Checklist, ChecklistTask, Poll } from './poll.ts'
import type { RichMessage } from './rich.ts'
import type { Permission } from './rights.ts'
import type { Preview, Quote, Text } from './text.ts'
import type { TopicLook } from './topic.ts'

/** `supergroup` and `group` differ only in the form of their public chat id. */
export type Surface = 'private' | 'group' | 'supergroup' | 'channel'

/** A shared person, with the names that were asked for. */
type Shared = Pick<Person, 'native'> & Partial<Person>

export interface Chat extends ChatDetails {
  readonly native: string
  readonly surface: Surface
  /** Only for groups and channels. */
  readonly title?: string
  /** Only for private chats. */
  readonly firstName?: string
  readonly lastName?: string
  readonly username?: string
  readonly description?: string
  readonly photo?: Media
  readonly inviteLink?: string
  /** The newest pinned message, if the network gives it. */
  readonly pinned?: Message
  /** Its messages stand in topics. */
  readonly isForum?: boolean
  /** The permissions of ordinary members. */
  readonly permissions?: readonly Permission[]
  /** A person who joins without an invite link needs an administrator's approval. */
  readonly needsApproval?: boolean
  /** Only for a private chat. Absent: no gifts. */
  readonly acceptedGifts?: AcceptedGifts
  /** Only for a private chat: the channel in the person's profile. */
  readonly personal?: Chat
  /** Only for the direct messages of a channel: the channel. */
  readonly parent?: Chat
}

/** `message` names the message that a fact is about; `about` is that message, if the network gives it. */
export type Service =
  | { readonly fact: 'joined'; readonly people: readonly Person[] }
  | { readonly fact: 'left'; readonly person: Person }
  | { readonly fact: 'title'; readonly title: string }
  | { readonly fact: 'photo'; readonly photo: Media | undefined }
  | { readonly fact: 'created'; readonly title: string }
  | { readonly fact: 'pinned'; readonly message: string; readonly about?: Message }
  | { readonly fact: 'gift'; readonly gift: OwnedGift }
  /** In a checklist, which a message carries. */
  | {
      readonly fact: 'tasks_done'
      readonly message: string
      readonly about?: Message
      readonly done: readonly number[]
      readonly undone: readonly number[]
    }
  | {
      readonly fact: 'tasks_added'
      readonly message: string
      readonly about?: Message
      readonly tasks: readonly ChecklistTask[]
    }
  /** To the poll of a message, which the fact names; `option` is its place. */
  | {
      readonly fact: 'option_added'
      readonly message: string
      readonly about?: Message
      readonly option: number
      readonly text: Text
    }
  /** A small group became a supergroup: `moved_to` stands in the old chat, `moved_from` in the new one. */
  | { readonly fact: 'moved_to' | 'moved_from'; readonly chat: string }
  | ({ readonly fact: 'topic_created' } & TopicLook)
  /** An absent field has not changed; an empty icon means that it was removed. */
  | { readonly fact: 'topic_edited'; readonly name?: string; readonly icon?: string }
  | {
      readonly fact:
        | 'topic_closed'
        | 'topic_reopened'
        | 'general_topic_hidden'
        | 'general_topic_unhidden'
    }
  /** Tells of the chat; in a private chat, of the bot. */
  | { readonly fact: 'community_added'; readonly community: Community }
  /** Somebody came into the chat by way of the community. */
  | { readonly fact: 'community_joined'; readonly community: Community }
  | { readonly fact: 'community_removed' }
  /** A key asked for them; the names are there where it asked for those, too. */
  | { readonly fact: 'users_shared'; readonly request: number; readonly people: readonly Shared[] }
  | { readonly fact: 'chat_shared'; readonly request: number; readonly chat: Chat }
  /** Made by way of a key, for the account that manages it. */
  | { readonly fact: 'managed_bot_created'; readonly bot: Person }
  | { readonly fact: 'paid' | 'refunded'; readonly receipt: Receipt }
  | PostFact<Message>
  | { readonly fact: 'web_app_data'; readonly button: string; readonly data: string }

export type Content =
  | ({ readonly kind: 'text'; readonly preview?: Preview } & Text)
  | {
      readonly kind: 'media'
      readonly media: Media
      readonly caption: Text
      readonly captionAbove?: boolean
      readonly spoiler?: boolean
    }
  | ({ readonly kind: 'location'; readonly venue?: Venue } & Location)
  | {
      readonly kind: 'contact'
      readonly phone: string
      readonly firstName: string
      readonly lastName?: string
      readonly vcard?: string
      /** Native id of the person, where they have an account. */
      readonly person?: string
    }
  | { readonly kind: 'poll'; readonly poll: Poll }
  | ({ readonly kind: 'rich' } & RichMessage)
  | { readonly kind: 'checklist'; readonly checklist: Checklist }
  /** `value` is thrown by the network; 0 on the way to it. */
  | { readonly kind: 'dice'; readonly emoji: string; readonly value: number }
  | { readonly kind: 'invoice'; readonly invoice: Invoice }
  | { readonly kind: 'game'; readonly game: Game }
  | {
      readonly kind: 'paid_media'
      readonly paid: PaidMedia
      readonly caption: Text
      readonly captionAbove?: boolean
    }
  /** A story that was passed on; `chat` has posted it. */
  | { readonly kind: 'story'; readonly chat: Chat; readonly story: number }
  | ({ readonly kind: 'service' } & Service)
  /** Something the network has and the bot API has no word for; `label` says what it was. */
  | { readonly kind: 'unsupported'; readonly label: string }

export type Reaction = { readonly emoji: string } | { readonly customEmojiId: string }

/** The first origin of a forwarded message. */
export type Origin =
  | { readonly from: 'person'; readonly person: Person; readonly at: number }
  | { readonly from: 'hidden'; readonly name: string; readonly at: number }
  | {
      readonly from: 'chat'
      readonly chat: Chat
      readonly message?: string
      readonly signature?: string
      readonly at: number
    }

/** A message of another chat that is answered, as it was then. */
export interface ExternalReply {
  readonly origin: Origin
  /** Absent where the message stands in a private chat. */
  readonly chat?: Chat
  readonly message?: string
  readonly content: Content
}

interface Ephemeral {
  readonly id: string
  readonly receiver: Person
  /** The message in whose place it is shown. */
  readonly replaces?: string
}

export interface Message {
  readonly native: string
  readonly chat: Chat
  /** Absent on channel posts. */
  readonly from?: Person
  /** The chat in whose name it was written: `from` is a stand-in then. */
  readonly fromChat?: Chat
  /** Unix time in seconds. */
  readonly at: number
  readonly editedAt?: number
  readonly content: Content
  /** The message this one answers: its native id, and the message if the network gives it. */
  readonly replyTo?: { readonly native: string; readonly message?: Message }
  readonly quote?: Quote
  /** The task of the checklist that it answers. */
  readonly answeredTask?: number
  readonly externalReply?: ExternalReply
  /** Only one member of the chat sees it. Its native id is 0. */
  readonly ephemeral?: Ephemeral
  /** The forum topic it belongs to: the id of the message that began it, and that message if the network gives it. */
  readonly topic?: { readonly native: string; readonly message?: Message }
  readonly forward?: Origin
  /** The bot that offered it in inline mode. */
  readonly via?: Person
  /** The person whose message called the bot as a guest: the bot wrote this and is no member of the chat. */
  readonly guestCaller?: Person
  /** The account that sent it on behalf of a business. */
  readonly sentBy?: Person
  readonly buttons?: Buttons
  /** Messages sent together as one album share this key. */
  readonly album?: string
  readonly signature?: string
  /** The title or tag that its writer had in the supergroup. */
  readonly senderTag?: string
  /** The connection of the business on whose behalf it was sent. */
  readonly business?: string
  readonly isProtected?: boolean
  /** The network's number of the effect that it came with. */
  readonly effect?: string
  readonly suggestion?: SuggestedPost
  /** Somebody has paid for the post. */
  readonly isPaidPost?: boolean
}

/** The same video played from another second, at 0 from its beginning; anything else as it is. */
export function startingAt(content: Content, seconds: number | undefined): Content {
  if (seconds === undefined || content.kind !== 'media' || content.media.kind !== 'video') {
    return content
  }
  const { startSeconds: _, ...media } = content.media
  return { ...content, media: { ...media, ...(seconds > 0 && { startSeconds: seconds }) } }
}

export const CONTENT_NAMES = [
  'text',
  ...MEDIA_KINDS,
  'live_photo',
  'location',
  'venue',
  'contact',
  'poll',
  'dice',
] as const

/** Kinds of content that few networks have. */
export const SPECIAL_CONTENT_NAMES = ['rich', 'checklist', 'invoice', 'game', 'paid_media'] as const

export type ContentName = (typeof CONTENT_NAMES)[number] | (typeof SPECIAL_CONTENT_NAMES)[number]

export function contentName(content: Content): ContentName | 'story' | 'service' | 'unsupported' {
  if (content.kind === 'media') return content.media.live ? 'live_photo' : content.media.kind
  return content.kind === 'location' && content.venue ? 'venue' : content.kind
}
