/** Operations of bots with a task of their own: join queries, personal channels, bots that they manage, passports, and the rights that they ask for. */
import type { Person } from './person.ts'
import type { Right } from './rights.ts'

export const BOT_OPERATIONS = [
  'answer_join_query',
  'show_join_app',
  'personal_messages',
  'managed_bot_token',
  'managed_bot_access',
  'set_managed_bot_access',
  'passport_errors',
  'set_default_rights',
] as const

export const JOIN_DECISIONS = ['approve', 'decline', 'queue'] as const

export type JoinDecision = (typeof JOIN_DECISIONS)[number]

/** A mistake in one element of a passport, in the reference's names. */
export type PassportError = Readonly<Record<string, string | readonly string[]>>

/** The rights that an account asks for as an administrator. */
export interface DefaultRights {
  readonly rights: readonly Right[]
  readonly isAnonymous: boolean
}

export type BotOperation<Place> =
  /** `queue` leaves the request to the administrators. */
  | { readonly kind: 'answer_join_query'; readonly query: string; readonly decision: JoinDecision }
  /** Shows the person who asks a web app, after which the query is still to be answered. */
  | { readonly kind: 'show_join_app'; readonly query: string; readonly url: string }
  /** The newest messages of the channel in a person's profile. */
  | { readonly kind: 'personal_messages'; readonly person: Place; readonly limit: number }
  /** `person` is the bot that the account manages. A token that is replaced opens nothing any more. */
  | { readonly kind: 'managed_bot_token'; readonly person: Place; readonly isReplaced: boolean }
  | { readonly kind: 'managed_bot_access'; readonly person: Place }
  /** Restricted: only its owner and the people added may write to the bot. */
  | {
      readonly kind: 'set_managed_bot_access'
      readonly person: Place
      readonly isRestricted: boolean
      readonly added: readonly Place[]
    }
  /** They stand until the person has corrected them. */
  | {
      readonly kind: 'passport_errors'
      readonly person: Place
      readonly errors: readonly PassportError[]
    }
  /** Offered to a person who makes the account an administrator. Without rights nothing is asked for any more. */
  | ({ readonly kind: 'set_default_rights'; readonly inChannels: boolean } & DefaultRights)

export type BotOutcome =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'access'; readonly isRestricted: boolean; readonly people: readonly Person[] }
