/** The events of an API key's machine, and its terms: what a key may do, and until when. */
import type { Command, Failure, RequestAbandoned } from '../model/protocol.ts'
import type { Filter, Wanted } from '../model/update-kinds.ts'
import type { WebhookChange, WebhookChanged, WebhookStanding } from '../webhook/terms.ts'

export type Scope = 'bot:send' | 'bot:receive'

/** Asks whether a call may go on to the credential; `overBySeconds` is how far the key is past its rate. */
export interface AdmitCall extends Command {
  readonly type: 'call.admit'
  readonly scope: Scope | undefined
  readonly overBySeconds?: number
  readonly now: number
}

/** getUpdates. `next` is the id the log gives next, `now` the time in milliseconds. */
export interface PollUpdates extends Command, Partial<Wanted> {
  readonly type: 'updates.poll'
  readonly offset: number
  readonly limit: number
  readonly timeoutMs: number
  readonly next: number
  readonly now: number
  /** Milliseconds since its client made it, if it has waited for the owner of its account. */
  readonly age?: number
  /** The account still gets updates, and the service goes on. */
  readonly mayHold?: true
  /** A number that stands for the program that polls, as far as that names itself. */
  readonly client?: number
}

/** Throws away everything pending (`drop_pending_updates`). */
interface DropPending extends Command {
  readonly type: 'updates.drop'
  readonly next: number
  readonly now: number
}

/** Sets the kinds that are wanted from here on. */
export interface AllowKinds extends Command, Wanted {
  readonly type: 'updates.allow'
  readonly next: number
}

/** Sets or deletes the webhook, or goes back in what it has delivered. */
export interface ChangeWebhook extends Command {
  readonly type: 'webhook.change'
  readonly change: WebhookChange
}

/** The part of a key that may change while it lives. */
export interface KeyTerms {
  readonly scopes: readonly Scope[]
  readonly expiresAt: number | undefined
}

export interface KeyChanged extends Command {
  readonly type: 'key.changed'
  readonly terms: KeyTerms
}

interface RevokeKey extends Command {
  readonly type: 'key.revoke'
}

/** The old secret opens nothing any more: all callers are turned out, and the next one gets a new actor. */
interface KeyRotated extends Command {
  readonly type: 'key.rotated'
}

/** An operator has suspended the user of the key; every call is refused with this until that ends. */
export interface UserSuspended {
  readonly type: 'user.suspended'
  readonly suspension: Failure
}

interface Reading {
  readonly cursor: number
  readonly waiting: Poll | undefined
}

/** `next` is the id that the log was to give then. */
export interface LastPoll {
  readonly offset: number
  readonly at: number
  readonly next: number
  /** The polls in a row, all of one program, that got updates, while no offset since has confirmed any. */
  readonly unconfirmed: number
  readonly client: number | undefined
}

/** What is remembered of a poll that begins. */
export function noted(
  poll: PollUpdates,
  before: LastPoll | undefined,
  confirms: boolean,
): LastPoll {
  const { offset, next, now: at, client } = poll
  // What somebody has read by hand says nothing of the bot that polls now.
  const isAnew = confirms || before?.client !== client
  return { offset, at, next, unconfirmed: isAnew ? 0 : (before?.unconfirmed ?? 0), client }
}

/** How far past the next id an offset still counts as a confirmation (the reference's figure). */
const FUTURE_SLACK = 10

/** Whether such an offset comes from elsewhere: it confirms nothing. */
export const isAhead = ({ offset, next }: Pick<LastPoll, 'offset' | 'next'>): boolean =>
  offset > next + FUTURE_SLACK

/**
 * Confirms everything below `offset`, where it is plausible. Far in the future it confirms nothing. Slightly ahead
 * it confirms what exists and no more: unlike the reference, an update that comes later is not skipped.
 */
export function confirm(cursor: number, offset: number, next: number): number {
  if (offset <= 0 || isAhead({ offset, next })) return cursor
  return Math.max(cursor, Math.min(offset, next) - 1)
}

/** Whether a poll would find nothing and wait: it needs no read. */
export const readsNothing = (
  { cursor, waiting }: Reading,
  { mayHold, offset, timeoutMs, next }: PollUpdates,
): boolean =>
  mayHold === true &&
  waiting === undefined &&
  timeoutMs > 0 &&
  offset >= 0 &&
  confirm(cursor, offset, next) >= next - 1

/** One getUpdates on its way: what to read, from where, and how long it may wait. */
export interface Poll extends Command {
  /** When its client made it, in milliseconds since 1970. */
  readonly askedAt: number
  /** It has waited for the owner of its account, so others may have come before it that were made after it. */
  readonly isLate?: true
  readonly after: number
  /** Negative offset: keep only so many of the newest. */
  readonly keepNewest: number | undefined
  readonly limit: number
  readonly timeoutMs: number
  readonly filter: Filter
  /** It holds its connection: by the time the log was read for it, it may have been answered. */
  readonly held?: true
}

/** A poll that holds its connection; nothing up to `head` is for it. */
export type HeldPoll = Poll & { readonly head: number; readonly heldAt: number }

/** A held poll as a new one. */
export function readAnew({ held: _, head: __, heldAt: ___, ...poll }: HeldPoll): Poll {
  return poll
}

/** So long a call may take between nodes on a busy machine. */
const LATE_MS = 500

export const madeAt = ({ now, age = 0 }: PollUpdates): Pick<Poll, 'askedAt' | 'isLate'> => ({
  askedAt: now - age,
  ...(age > LATE_MS && { isLate: true }),
})

export interface PollRead {
  readonly type: 'poll.read'
  readonly poll: Poll
  /** The updates as one JSON array, ready to be sent. */
  readonly json: string
  readonly count: number
  /** The cursor after a negative offset dropped what is older. */
  readonly cursor: number
  /** The newest id that was looked at. */
  readonly head: number
  /** The account is out, and why: nothing will come. */
  readonly out?: Failure | undefined
  readonly now: number
}

/** The answer of getUpdates: a JSON array as text, and how many updates are in it. */
export interface UpdatePage {
  readonly json: string
  readonly count: number
}

export const EMPTY_PAGE: UpdatePage = { json: '[]', count: 0 }

export const pageOf = ({ json, count }: PollRead): UpdatePage => ({ json, count })

export type ApiKeyEvent =
  | AdmitCall
  | PollUpdates
  | DropPending
  | AllowKinds
  | ChangeWebhook
  | KeyChanged
  | RevokeKey
  | KeyRotated
  | UserSuspended
  | { readonly type: 'user.resumed' }
  | RequestAbandoned
  | PollRead
  | { readonly type: 'poll.failed'; readonly poll: Poll; readonly failure: Failure }
  /** The account gets nothing any more: a held poll is read for once more, then refused with the reason. */
  | { readonly type: 'account.out' }
  /** The service goes down: a held poll is answered with nothing, not cut. */
  | { readonly type: 'polls.end' }
  | { readonly type: 'conflict.due'; readonly requestId: string; readonly failure: Failure }
  | {
      readonly type: 'webhook.changed'
      readonly requestId: string
      readonly changed: WebhookChanged
    }
  | { readonly type: 'webhook.unchanged'; readonly requestId: string; readonly failure: Failure }
  | { readonly type: 'webhook.moved'; readonly cursor: number }
  /** A delivery has ended: the next one begins where it stopped. */
  | { readonly type: 'webhook.stopped'; readonly standing: WebhookStanding }

export type Standing = 'usable' | 'expired' | 'revoked'

type Expiry = Pick<KeyTerms, 'expiresAt'>
type Scopes = { readonly scopes: readonly string[] }

/** Times are in milliseconds since 1970. */
export function hasExpired({ expiresAt = Number.POSITIVE_INFINITY }: Expiry, now: number): boolean {
  return now >= expiresAt
}

export const hasScope = ({ scopes }: Scopes, scope: Scope): boolean => scopes.includes(scope)

/** Whether its scopes let a key receive updates, by polls or by a webhook. */
export const mayReceive = (terms: Scopes): boolean => hasScope(terms, 'bot:receive')

/** Whether a key receives updates at this time. */
export const receivesAt = (terms: KeyTerms, now: number): boolean =>
  mayReceive(terms) && !hasExpired(terms, now)

/** Whether a call that needs this scope may go on. */
export const mayCall = (terms: KeyTerms, scope: Scope | undefined, now: number): boolean =>
  !hasExpired(terms, now) && (scope === undefined || hasScope(terms, scope))

/** A key as its record has it: times in ISO 8601. */
interface KeyRecord {
  readonly revoked_at: string | null
  readonly expires_at: string | null
}

export function keyStanding({ revoked_at, expires_at }: KeyRecord, now: number): Standing {
  if (revoked_at !== null) return 'revoked'
  const expiresAt = expires_at === null ? undefined : Date.parse(expires_at)
  return hasExpired({ expiresAt }, now) ? 'expired' : 'usable'
}
