/** Games that bots send, in the terms of no particular network. */
import type { Person } from './person.ts'
import type { Text } from './text.ts'

export interface Game {
  /** By which its bot names it. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** The text that the bot writes below it, or the scores. */
  readonly text?: Text
}

export interface Score {
  /** 1 for the best. */
  readonly place: number
  readonly person: Person
  readonly score: number
}
