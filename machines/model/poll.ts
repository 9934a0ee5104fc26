/** Polls, questions with options that people vote for; and checklists, tasks that they mark as done. */
import type { Location, Venue } from './location.ts'
import type { Media, MediaKind } from './media.ts'
import type { Person } from './person.ts'
import type { Text } from './text.ts'

/** A file, a place or the address of a page that belongs to a part of a poll. */
export type PollMedia =
  | { readonly kind: 'media'; readonly media: Media }
  | ({ readonly kind: 'location'; readonly venue?: Venue } & Location)
  | { readonly kind: 'link'; readonly url: string }

const EVERYWHERE: readonly MediaKind[] = ['animation', 'photo', 'video']
/** The files that may stand beside a question or an explanation. */
export const POLL_MEDIA: readonly MediaKind[] = [...EVERYWHERE, 'audio', 'document']
/** The files that may belong to an option. */
export const OPTION_MEDIA: readonly MediaKind[] = [...EVERYWHERE, 'sticker']

/** Whether it is the address of a page, which an option may have. */
export const isPage = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

interface PollOption {
  readonly text: Text
  readonly media?: PollMedia
  readonly voters: number
  /** Only for an option that came later: who added it, and when (Unix time in seconds). */
  readonly added?: { readonly by: Person; readonly at: number }
}

export interface Poll {
  /** Given by the network; absent on the way to it. */
  readonly id?: string
  readonly question: Text
  /** They keep their places: new ones come at the end. */
  readonly options: readonly PollOption[]
  readonly voters: number
  readonly isClosed: boolean
  readonly isAnonymous: boolean
  readonly isQuiz: boolean
  readonly isMultiple: boolean
  /** A vote can be changed. Absent: except in a quiz. */
  readonly isRevotable?: boolean
  /** Whoever may vote may add options. */
  readonly isOpenToOptions?: boolean
  /** Each reader sees the options in an order of their own. */
  readonly isShuffled?: boolean
  /** Only its owner sees the votes before it is closed. */
  readonly hidesResults?: boolean
  /** Only members of the chat that it was sent to first may vote. */
  readonly isForMembers?: boolean
  /** Only people with phone numbers of these countries may vote. */
  readonly countries?: readonly string[]
  /** Places of the right options of a quiz. */
  readonly right?: readonly number[]
  readonly explanation?: Text
  readonly explanationMedia?: PollMedia
  readonly description?: Text
  /** Shown beside the description. */
  readonly media?: PollMedia
  readonly openSeconds?: number
  /** Unix time in seconds. */
  readonly closesAt?: number
}

export interface ChecklistTask {
  /** Positive, and given once in a list. */
  readonly id: number
  readonly text: Text
  readonly doneBy?: Person
  /** Unix time in seconds. */
  readonly doneAt?: number
}

export interface Checklist {
  readonly title: Text
  readonly tasks: readonly ChecklistTask[]
  readonly othersMayAdd?: boolean
  readonly othersMayMark?: boolean
}
