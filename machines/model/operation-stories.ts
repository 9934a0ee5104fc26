/** The operations of stories. */
import type { Chat } from './content.ts'
import type { Media } from './media.ts'
import type { Text } from './text.ts'

export const STORY_OPERATIONS = [
  'post_story',
  'delete_story',
  'edit_story',
  'repost_story',
] as const

/** The account's own stories: photos and videos that are shown for a time. */
export type StoryOperation<Place> =
  | ({
      readonly kind: 'post_story'
      /** A photo, a video or an animation. */
      readonly media: Media
      readonly caption: Text
    } & StoryTerms)
  | { readonly kind: 'delete_story'; readonly story: number }
  | {
      readonly kind: 'edit_story'
      readonly story: number
      readonly media: Media
      readonly caption: Text
    }
  /** Posts a story of another business that the same account acts for. */
  | ({ readonly kind: 'repost_story'; readonly from: Place; readonly story: number } & StoryTerms)

interface StoryTerms {
  /** How long it is shown. */
  readonly activeSeconds: number
  /** Still shown when its time is over. */
  readonly isKept?: boolean
  /** Its viewers shall not pass it on. */
  readonly isProtected?: boolean
}

export interface Story {
  /** The private chat of its author. */
  readonly chat: Chat
  readonly id: number
}
