/** What a platform can be asked to do with the account's own stories: pictures and films that are shown for a time. */
import type { Chat, Media, Text } from './content.ts'

export const STORY_OPERATIONS = ['post_story', 'delete_story'] as const

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
      /** Those who see it shall not pass it on. */
      readonly isProtected?: boolean
    }
  | { readonly kind: 'delete_story'; readonly story: number }

export interface Story {
  /** Whose it is. */
  readonly chat: Chat
  readonly id: number
}
