/** Games that bots send, and operations about their scores, in the terms of no particular network. */
import type { Media } from './media.ts'
import type { Person } from './person.ts'
import type { Text } from './text.ts'

export interface Game {
  /** The name by which its bot identifies it. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** The text that the bot writes below it, or the scores. */
  readonly text?: Text
  /** Given by the network; absent on the way to it. */
  readonly photo?: Media
  readonly animation?: Media
}

export interface Score {
  /** 1 for the best. */
  readonly place: number
  readonly person: Person
  readonly score: number
}

export const GAME_OPERATIONS = ['set_score', 'scores'] as const

/** The message of a game: in a chat, or by the id that the bot got of a message that was sent by way of it. */
type GamePlace<Place, Item> =
  | { readonly chat: Place; readonly message: Item }
  | { readonly inline: string }

export type GameOperation<Place, Item> = { readonly person: Place } & GamePlace<Place, Item> &
  (
    | {
        readonly kind: 'set_score'
        readonly score: number
        /** The score may also become lower. */
        readonly mayFall: boolean
        /** The message shows the scores afterwards. */
        readonly isShown: boolean
      }
    /** The scores of the person, of the neighbours in the list, and the best ones. */
    | { readonly kind: 'scores' }
  )

export interface GameOutcome {
  readonly kind: 'scores'
  readonly scores: readonly Score[]
}
