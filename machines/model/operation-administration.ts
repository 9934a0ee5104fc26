/** Operations of administrators that few networks have: general topics, titles, tags, boosts and verification. */

export const ADMINISTRATION_OPERATIONS = [
  'edit_general_topic',
  'unpin_topic',
  'set_member_title',
  'set_member_tag',
  'ban_sender',
  'unban_sender',
  'boosts',
  'verify',
  'unverify',
  'set_emoji_status',
  'subscription_invite',
  'edit_subscription_invite',
  'approve_post',
  'decline_post',
] as const

export type GeneralTopicChange =
  | { readonly do: 'rename'; readonly name: string }
  /** A hidden topic is closed, too. */
  | { readonly do: 'close' | 'reopen' | 'hide' | 'unhide' }

interface Somebody<Place> {
  readonly chat: Place
  readonly person: Place
}

export type AdministrationOperation<Place, Item> =
  | {
      readonly kind: 'edit_general_topic'
      readonly chat: Place
      readonly change: GeneralTopicChange
    }
  /** Unpins the messages of one topic; without a topic, of the general one. */
  | { readonly kind: 'unpin_topic'; readonly chat: Place; readonly topic?: Item }
  /** The title of an administrator, or the tag of an ordinary member; empty: none. */
  | ({ readonly kind: 'set_member_title'; readonly title: string } & Somebody<Place>)
  | ({ readonly kind: 'set_member_tag'; readonly tag: string } & Somebody<Place>)
  /** `from` is the banned sender channel. */
  | {
      readonly kind: 'ban_sender' | 'unban_sender'
      readonly chat: Place
      readonly from: Place
    }
  | ({ readonly kind: 'boosts' } & Somebody<Place>)
  /** `chat` may be a person, too. */
  | { readonly kind: 'verify'; readonly chat: Place; readonly description: string }
  | { readonly kind: 'unverify'; readonly chat: Place }
  /** People who join by the link pay the Stars for so many seconds. */
  | {
      readonly kind: 'subscription_invite'
      readonly chat: Place
      readonly name: string
      readonly seconds: number
      readonly stars: number
    }
  | {
      readonly kind: 'edit_subscription_invite'
      readonly chat: Place
      readonly link: string
      readonly name: string
    }
  /** Answers a suggestion for a channel. `sendAt`: Unix time in seconds. */
  | {
      readonly kind: 'approve_post'
      readonly chat: Place
      readonly message: Item
      readonly sendAt?: number
    }
  | {
      readonly kind: 'decline_post'
      readonly chat: Place
      readonly message: Item
      readonly comment?: string
    }
  | {
      readonly kind: 'set_emoji_status'
      readonly person: Place
      /** Absent: the person has no status any more. */
      readonly customEmojiId?: string
      /** Unix time in seconds; absent: for ever. */
      readonly until?: number
    }
