/** The operations of stories. */
import type { Chat, Media, Text } from './content.ts'

export const STORY_OPERATIONS = ['post_story', 'delete_story'] as const

/** The account's own stories: photos and videos that are shown for a time. */
export type StoryOperation =
  | {
      readonly kind: 'post_story'
      /** A photo, a video or an animation. */
      readonly media: Media
      readonly caption: Text
      /** How long it is shown. */
      readonly activeSeconds: number
      /** Still shown when its time is over. */
      readonly isKept?: boolean
      /** Its viewers shall not pass it on. */
      readonly isProtected?: boolean
    }
  | { readonly kind: 'delete_story'; readonly story: number }

export interface Story {
  /** The private chat of its author. */
  readonly chat: Chat
  readonly id: number
}
