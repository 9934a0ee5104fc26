/** The values that the code of the messenger works with: its services, the network of one user, and the acting person. */

import type { Logger } from '../../../actors/ports/ports.ts'
import type { ReplyKeyboard } from '../../../machines/model/buttons.ts'
import type { Chat, Content, Message } from '../../../machines/model/content.ts'
import type { Database, Queryable } from '../../database/database.ts'
import type { MediaService } from '../../media/media.ts'
import type { Capacity } from './capacity.ts'
import type { QueuedMessage } from './rows.ts'

/**
 * Makes the sessions of these people read their queues, and every waiting request look again. Sessions need not read the
 * messages that are given.
 */
export type Wake = (people: readonly number[], messages?: readonly QueuedMessage[]) => void

/** One message to send; `native` names the chat as its sender does. */
export interface OutgoingMessage {
  readonly sender: number
  readonly session?: number
  readonly native: number
  readonly request: string
  readonly content: Content
  readonly reply?: number
  readonly replyOptional?: boolean
  readonly forward?: unknown
  readonly buttons?: unknown
  readonly keyboard?: ReplyKeyboard
  /** Messages with the same key are one album. */
  readonly album?: string
  readonly isProtected?: boolean
  /** Attributes that few messages have, as the message shows them. */
  readonly attributes?: object
  /** The topic of a forum. Absent: the topic of the message answered, or the general one. */
  readonly topic?: number
}

export interface Outbox {
  /** Resolves with the message as its sender sees it. Rejects with `RequestFailed` where it is not admitted. */
  send(message: OutgoingMessage): Promise<Message>
  /** Sends messages of one sender to one chat: all or none. */
  sendTogether(messages: readonly OutgoingMessage[]): Promise<Message[]>
  /** An outbox whose messages are part of a transaction. */
  within(tx: Queryable, wake: (people: readonly number[]) => void): Outbox
}

export interface PollTimer {
  /** Closes a poll at this time, in Unix milliseconds. */
  schedule(at: number): void
}

/** An account that acts for the business of a person. */
export interface BusinessLink {
  readonly id: string
  readonly person: number
  readonly account: number
}

export interface BusinessLinks {
  /** The enabled connections of these people. */
  of(people: readonly number[]): Promise<readonly BusinessLink[]>
  /** Call it after a connection has changed. */
  changed(): void
}

/** The services that all networks share. */
export interface Services {
  readonly db: Database
  readonly logger: Logger
  readonly media: Pick<MediaService, 'ingest' | 'open' | 'hold' | 'release'>
  readonly capacity: Capacity
  readonly outbox: Outbox
  readonly pollTimer: PollTimer
  readonly business: BusinessLinks
  readonly wake: Wake
  /** Ends the sessions of all linked devices of a person. */
  readonly signOut: (person: number) => Promise<void>
  /** Unix milliseconds. */
  readonly now: () => number
}

/** The services and the user whose network it is. Nothing in a network sees or reaches anything outside it. */
export interface NetworkContext extends Services {
  readonly network: number
}

/** The person who acts; on a linked device, which learns the result from its answer, also the device's session. */
export interface ActingPerson {
  readonly person: number
  readonly session?: number
}

/** One operation under way. A repeated `request` of one person is carried out once. */
export interface Call {
  readonly context: NetworkContext
  readonly by: ActingPerson
  readonly request: string
  /** The channel in whose name a person writes to a supergroup. */
  readonly sendAs?: Chat
  /** The business for which an account acts: `by` is then its owner. */
  readonly business?: { readonly connection: string; readonly account: number }
}
