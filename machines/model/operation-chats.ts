/** Operations about chats, their members and topics, and the account's own profile. */
import type { Media } from './media.ts'
import type { Permission, Right } from './rights.ts'

/** Operations about the topics of a forum. */
export const TOPIC_OPERATIONS = [
  'create_topic',
  'edit_topic',
  'close_topic',
  'reopen_topic',
  'delete_topic',
] as const

interface OneTopic<Place, Item> {
  readonly chat: Place
  /** The message that began it. */
  readonly topic: Item
}

export type TopicOperation<Place, Item> =
  | {
      readonly kind: 'create_topic'
      readonly chat: Place
      readonly name: string
      /** RGB; absent: the network chooses. */
      readonly iconColor?: number
      /** A custom emoji's id. */
      readonly icon?: string
    }
  /** An absent field stays as it is; an empty icon removes the icon. */
  | ({
      readonly kind: 'edit_topic'
      readonly name?: string
      readonly icon?: string
    } & OneTopic<Place, Item>)
  | ({ readonly kind: 'close_topic' | 'reopen_topic' } & OneTopic<Place, Item>)
  /** Deletes all its messages too. */
  | ({ readonly kind: 'delete_topic' } & OneTopic<Place, Item>)

export const CHAT_OPERATIONS = [
  'set_title',
  'set_description',
  'set_photo',
  'set_permissions',
  'pin',
  'unpin',
  'unpin_all',
  'leave',
  'administrators',
  'count_members',
  'member',
  'ban',
  'unban',
  'restrict',
  'promote',
  'invite',
  'edit_invite',
  'revoke_invite',
  'answer_join',
] as const

export const PROFILE_OPERATIONS = [
  'profile_photos',
  'profile_audios',
  'set_name',
  'set_about',
  'set_profile_photo',
] as const

/** A person has the same native id as the private chat with them. */
interface Somebody<Place> {
  readonly chat: Place
  readonly person: Place
}

interface InviteTerms {
  readonly name?: string
  /** Unix time in seconds. */
  readonly expiresAt?: number
  readonly memberLimit?: number
  readonly needsApproval?: boolean
}

export type ChatOperation<Place, Item> =
  | { readonly kind: 'set_title'; readonly chat: Place; readonly title: string }
  | { readonly kind: 'set_description'; readonly chat: Place; readonly description: string }
  /** Without a photo, removes the present one. */
  | { readonly kind: 'set_photo'; readonly chat: Place; readonly photo?: Media }
  | {
      readonly kind: 'set_permissions'
      readonly chat: Place
      readonly permissions: readonly Permission[]
    }
  | {
      readonly kind: 'pin'
      readonly chat: Place
      readonly message: Item
      readonly silent?: boolean
    }
  /** Without a message: the newest one. */
  | { readonly kind: 'unpin'; readonly chat: Place; readonly message?: Item }
  | { readonly kind: 'unpin_all'; readonly chat: Place }
  | { readonly kind: 'leave'; readonly chat: Place }
  | { readonly kind: 'administrators'; readonly chat: Place }
  | { readonly kind: 'count_members'; readonly chat: Place }
  | ({ readonly kind: 'member' } & Somebody<Place>)
  | ({
      readonly kind: 'ban'
      /** Unix time in seconds; absent: for ever. */
      readonly until?: number
      readonly deletesMessages?: boolean
    } & Somebody<Place>)
  | ({ readonly kind: 'unban'; readonly onlyIfBanned: boolean } & Somebody<Place>)
  | ({
      readonly kind: 'restrict'
      readonly permissions: readonly Permission[]
      readonly until?: number
    } & Somebody<Place>)
  /** An empty list makes an ordinary member of an administrator. */
  | ({
      readonly kind: 'promote'
      readonly rights: readonly Right[]
      readonly isAnonymous?: boolean
    } & Somebody<Place>)
  /** `primary` creates a new primary link; the old one stops working. */
  | ({ readonly kind: 'invite'; readonly chat: Place; readonly primary: boolean } & InviteTerms)
  | ({ readonly kind: 'edit_invite'; readonly chat: Place; readonly link: string } & InviteTerms)
  | { readonly kind: 'revoke_invite'; readonly chat: Place; readonly link: string }
  | ({ readonly kind: 'answer_join'; readonly approves: boolean } & Somebody<Place>)

export type ProfileOperation<Place> =
  | {
      readonly kind: 'profile_photos' | 'profile_audios'
      readonly person: Place
      readonly offset: number
      readonly limit: number
    }
  | { readonly kind: 'set_name'; readonly firstName: string; readonly lastName?: string }
  | { readonly kind: 'set_about'; readonly about: string }
  /**
   * Without a photo, removes the present one. `frameAt`: only for an animated photo, the second of the frame that
   * stands for it.
   */
  | { readonly kind: 'set_profile_photo'; readonly photo?: Media; readonly frameAt?: number }

/** A page of what a profile shows, newest first. */
export type ProfileOutcome =
  | { readonly kind: 'photos'; readonly total: number; readonly photos: readonly Media[] }
  | { readonly kind: 'audios'; readonly total: number; readonly audios: readonly Media[] }
