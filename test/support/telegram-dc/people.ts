/** The people of the test network, each with the box of events that Telegram numbers for them. */

import { Long, type tl } from '@mtcute/core'
import type { Place } from './channel.ts'
import type { SecondFactor } from './srp.ts'

/** An update together with the count of its box after it. */
export interface BoxEvent {
  readonly pts: number
  readonly update: tl.TypeUpdate
}

/** What somebody thinks of a message. */
export interface Opinion {
  readonly emoji: readonly string[]
  /** Unix time in seconds. */
  readonly at: number
}

export interface Person {
  readonly id: number
  firstName: string
  lastName: string
  about: string
  /** The channel that their profile shows. */
  personal?: Place
  /** The newest first. */
  photos: readonly tl.RawPhoto[]
  /** What the profile plays. */
  music: readonly tl.RawDocument[]
  emojiStatus?: tl.TypeEmojiStatus
  readonly stories: Map<number, tl.RawStoryItem>
  username: string
  isPremium: boolean
  /** Telegram Stars, and how they came and went. */
  stars: number
  readonly transactions: tl.RawStarsTransaction[]
  /** By the messages that announced them. */
  readonly gifts: Map<number, tl.RawSavedStarGift>
  privacy: tl.RawGlobalPrivacySettings
  readonly phone: string
  /** The data centre that their account lives in. */
  readonly centre: number
  /** Their data centre is out of order, and sends them to this one. */
  sentTo?: number
  readonly secondFactor: SecondFactor | undefined
  /** Where their codes are sent; absent: to their app. */
  readonly email: string | undefined
  /** The one-time code sent last. */
  code: string
  isCodeOld: boolean
  isBanned: boolean
  /** Every request to send is told to wait that long. */
  floodSeconds: number
  /** Whoever asks who they are is told to wait that long. */
  shySeconds: number
  /** The answers to that many sends or codes get lost. */
  lostAnswers: number
  /** Their texts to people are answered with no more than what they cannot know. */
  isAnsweredShortly: boolean
  /** Others see them only beside what they wrote, and may name them by that alone. */
  isSeenBriefly: boolean
  /** Events are kept for later instead of being told at once. */
  isHushed: boolean
  /** Until then nothing of theirs gets through, in Unix milliseconds. */
  cutUntil: number
  pts: number
  /** How often they asked for what was written in a chat. */
  historiesAsked: number
  /** Of more missed events than that the network says only that they are too many. */
  mostMissed: number
  /** Asked from an older count, the network does not know it. */
  countsFrom: number
  nextMessage: number
  readonly events: BoxEvent[]
  readonly messages: Map<number, tl.RawMessage | tl.RawMessageService>
  /** Of their messages: who thinks what. */
  readonly reactions: Map<number, Map<number, Opinion>>
  /** Chats in which they have read up to a message: people by their ids, others by the negative ones. */
  readonly readUpTo: Map<number, number>
  /** The same of one conversation of a channel's direct messages: `<channel>:<person>`. */
  readonly readTopicUpTo: Map<string, number>
  /** Chats at the top of their list, named alike. */
  pinned: readonly number[]
  /** What was sent under which random id. */
  readonly sent: Map<string, number>
}

export function newPerson(
  id: number,
  { centre, secondFactor, email }: Pick<Person, 'centre' | 'secondFactor' | 'email'>,
): Person {
  return {
    id,
    firstName: `Person ${id}`,
    lastName: '',
    about: `About ${id}`,
    photos: [],
    music: [],
    stories: new Map(),
    username: `person${id}`,
    isPremium: false,
    stars: 0,
    transactions: [],
    gifts: new Map(),
    privacy: { _: 'globalPrivacySettings' },
    phone: `1555${id}`,
    centre,
    secondFactor,
    email,
    code: '',
    isCodeOld: false,
    isBanned: false,
    floodSeconds: 0,
    shySeconds: 0,
    lostAnswers: 0,
    isAnsweredShortly: false,
    isSeenBriefly: false,
    isHushed: false,
    cutUntil: 0,
    pts: 1,
    historiesAsked: 0,
    mostMissed: Number.POSITIVE_INFINITY,
    countsFrom: 0,
    nextMessage: 1,
    events: [],
    messages: new Map(),
    reactions: new Map(),
    readUpTo: new Map(),
    readTopicUpTo: new Map(),
    pinned: [],
    sent: new Map(),
  }
}

/** Whoever has not seen a person does not know this number. */
export const accessHash = (id: number) => new Long(id, 77)

const isBrief = (person: Person, viewer?: Person) => person.isSeenBriefly && viewer !== person

export const userOf = (person: Person, viewer?: Person): tl.RawUser => ({
  _: 'user',
  id: person.id,
  accessHash: isBrief(person, viewer) ? new Long(person.id, 78) : accessHash(person.id),
  ...(isBrief(person, viewer) && { min: true }),
  firstName: person.firstName,
  ...(person.lastName && { lastName: person.lastName }),
  ...(person.username && { username: person.username }),
  ...(person.isPremium && { premium: true }),
  ...(viewer === person && { self: true, phone: person.phone }),
})
