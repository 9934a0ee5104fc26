/** The setup of the API key machine: its context, the rules of getUpdates, and the effects it asks for. */
import { assign, emit, raise, setup } from 'xstate'
import * as port from '../model/effects.ts'
import { accepted, type Command, type Failure, type Reply } from '../model/protocol.ts'
import { changeFilter, type Filter, pruneFilter } from '../model/update-kinds.ts'
import type { WebhookChanged, WebhookFacts, WebhookStanding } from '../webhook/terms.ts'
import {
  type AllowKinds,
  type ApiKeyEvent,
  type ChangeWebhook,
  confirm,
  EMPTY_PAGE,
  type HeldPoll,
  hasExpired,
  hasScope,
  type KeyChanged,
  type KeyTerms,
  type LastPoll,
  madeAt,
  mayReceive,
  noted,
  type Poll,
  type PollRead,
  type PollUpdates,
  readAnew,
  readsNothing,
  receivesAt,
  type Scope,
} from './events.ts'
import { otherPoll } from './refusals.ts'

export interface ApiKeyInput {
  readonly apiKeyId: number
  readonly credentialId: number
  readonly terms: KeyTerms
  readonly revoked: boolean
  readonly cursor: number
  readonly filter: Filter
  readonly webhook: WebhookFacts | undefined
  /** How calls are refused while the user of the key is suspended; undefined: they are not. */
  readonly suspension?: Failure | undefined
}

export interface ApiKeyContext extends ApiKeyInput {
  /** The poll that holds its connection until something arrives. */
  readonly waiting: HeldPoll | undefined
  readonly lastPoll: LastPoll | undefined
  readonly conflictAt: number
  readonly current: Poll | undefined
  /** The change of the webhook that is being carried out. */
  readonly changing: ChangeWebhook | undefined
}

/** The brakes on short polling and the pacing of conflicts; figures of the reference. */
const SAME_OFFSET_WAIT_MS = 3_000
const SAME_OFFSET_BURST_MS = 500
const CONFLICT_PACE_MS = 3_000

/** A new poll: what it confirms, what the key wants from now on, and what is read for it. */
function beginning(context: ApiKeyContext, event: PollUpdates) {
  const { requestId, kinds, others, offset, limit, timeoutMs, next, now } = event
  const { lastPoll } = context
  const cursor = confirm(context.cursor, offset, next)
  const wanted = kinds !== undefined && { kinds, ...(others && { others }) }
  const changed = wanted ? changeFilter(context.filter, wanted, next) : context.filter
  const filter = pruneFilter(changed, cursor)
  const since = lastPoll?.offset === offset ? now - lastPoll.at : Infinity
  const poll: Poll = {
    requestId,
    ...madeAt(event),
    after: cursor,
    keepNewest: offset < 0 ? -offset : undefined,
    // A new update since the last poll lifts the brake: the brake is for pages that repeat.
    limit: since < SAME_OFFSET_BURST_MS && lastPoll?.next === next ? 1 : limit,
    timeoutMs: since < SAME_OFFSET_WAIT_MS ? Math.max(timeoutMs, SAME_OFFSET_WAIT_MS) : timeoutMs,
    filter,
  }
  return { cursor, filter, poll, lastPoll: noted(event, lastPoll, cursor > context.cursor) }
}

/** The poll that is held; throws if there is none, which the chart rules out. */
export function waitingIn({ waiting }: ApiKeyContext): HeldPoll {
  if (!waiting) throw new Error('no poll is held')
  return waiting
}

/** The time from the beginning of the held poll to the expiry of the key. */
const lifeOf = ({ terms, waiting }: ApiKeyContext) =>
  (terms.expiresAt ?? Infinity) - (waiting?.heldAt ?? 0)

export const apiKey = setup({
  types: {
    input: {} as ApiKeyInput,
    context: {} as ApiKeyContext,
    events: {} as ApiKeyEvent,
    emitted: {} as Reply,
  },
  actions: {
    read: port.action<Poll | undefined>('read'),
    /** Reads for a poll as soon as there is something newer than its head, after a short wait for a burst. */
    listen: port.action<HeldPoll>('listen'),
    stopListening: port.action('stopListening'),
    saveCursor: port.action('saveCursor'),
    reply: emit((_, reply: Reply) => reply),
    suspend: assign({ suspension: (_, suspension: Failure) => suspension }),
    resume: assign({ suspension: undefined }),
    adopt: assign({ terms: (_, terms: KeyTerms) => terms }),
    begin: assign(({ context }, event: PollUpdates) => {
      const { poll, ...confirmed } = beginning(context, event)
      return { ...confirmed, current: poll }
    }),
    /** Without a read, which would find nothing. */
    holdAtOnce: assign(({ context }, event: PollUpdates) => {
      const { poll, ...confirmed } = beginning(context, event)
      const { next, now } = event
      return {
        ...confirmed,
        waiting: { ...poll, held: true as const, head: next - 1, heldAt: now },
      }
    }),
    countAnswer: assign({
      lastPoll: ({ context: { lastPoll } }, { count }: PollRead) =>
        lastPoll && count > 0 ? { ...lastPoll, unconfirmed: lastPoll.unconfirmed + 1 } : lastPoll,
    }),
    countAnew: assign({
      lastPoll: ({ context: { lastPoll } }) => lastPoll && { ...lastPoll, unconfirmed: 0 },
    }),
    moveTo: assign({ cursor: ({ context }, cursor: number) => Math.max(context.cursor, cursor) }),
    hold: assign({
      current: undefined,
      waiting: (_, { poll, head, cursor, now }: PollRead) => ({
        ...poll,
        held: true as const,
        keepNewest: undefined,
        after: cursor,
        head,
        heldAt: now,
      }),
    }),
    advance: assign({
      waiting: ({ context }, head: number) => context.waiting && { ...context.waiting, head },
    }),
    release: assign({ waiting: undefined }),
    noteConflict: assign({ conflictAt: (_, now: number) => now }),
    endWaitingLater: raise(
      ({ context }) => ({
        type: 'conflict.due' as const,
        requestId: waitingIn(context).requestId,
        failure: otherPoll,
      }),
      { delay: CONFLICT_PACE_MS },
    ),
    refuseLater: raise(
      (_, { requestId, failure }: Command & { failure: Failure }) => ({
        type: 'conflict.due' as const,
        requestId,
        failure,
      }),
      { delay: CONFLICT_PACE_MS },
    ),
    allow: assign(({ context }, { next, ...wanted }: AllowKinds) => ({
      filter: changeFilter(context.filter, wanted, next),
    })),
    beginChange: assign({ changing: (_, change: ChangeWebhook) => change }),
    /** Makes the change once the delivery has stopped. */
    change: port.action<ChangeWebhook>('change'),
    endChange: assign({ changing: undefined }),
    /** Who sets a webhook polls no more. */
    become: assign(({ context }, { webhook, cursor }: WebhookChanged) => ({
      webhook,
      cursor,
      lastPoll: webhook ? undefined : context.lastPoll,
    })),
    keepStanding: assign({
      webhook: ({ context }, standing: WebhookStanding) =>
        context.webhook && { ...context.webhook, ...standing },
    }),
    /** Delivers what comes after the cursor for as long as the key is in this state. */
    deliver: port.action('deliver'),
    stopDelivering: port.action('stopDelivering'),
  },
  guards: {
    readsNothing: ({ context }, event: PollUpdates) => readsNothing(context, event),
    isHeld: (_, poll: Poll) => poll.held === true,
    /** A poll that was read before it was held still waits for its first answer. */
    isFirstRead: (_, poll: Poll) => poll.held !== true,
    isRevoked: ({ context }) => context.revoked,
    isSuspended: ({ context }) => context.suspension !== undefined,
    isExpired: ({ context }, now: number) => hasExpired(context.terms, now),
    lacksScope: ({ context }, scope: Scope | undefined) =>
      scope !== undefined && !hasScope(context.terms, scope),
    isOverRate: (_, overBySeconds: number | undefined) => overBySeconds !== undefined,
    isAnswered: (_, { count, poll }: PollRead) => count > 0 || poll.timeoutMs === 0,
    isInVain: (_, { count, out }: PollRead) => count === 0 && out !== undefined,
    isWaiting: ({ context }, { requestId }: Command) => context.waiting?.requestId === requestId,
    answersWaiting: ({ context }, { count, poll }: PollRead) =>
      count > 0 && context.waiting?.requestId === poll.requestId,
    isTooLate: ({ context }, { askedAt, isLate }: Poll) =>
      isLate === true && askedAt < (context.waiting?.askedAt ?? askedAt),
    nobodyWaits: ({ context }) => context.waiting === undefined,
    hasWebhook: ({ context }) => context.webhook !== undefined,
    isOutlived: ({ context }) => lifeOf(context) <= (context.waiting?.timeoutMs ?? 0),
    mayNotReceive: (_, terms: KeyTerms) => !mayReceive(terms),
    expiresOtherwise: ({ context }, { expiresAt }: KeyTerms) =>
      expiresAt !== context.terms.expiresAt,
    isChanging: ({ context }) => context.changing !== undefined,
    isCurrent: ({ context, event }) =>
      'requestId' in event && context.changing?.requestId === event.requestId,
    conflictedLately: ({ context }, now: number) => now - context.conflictAt < CONFLICT_PACE_MS,
    /** A key that may not poll at all gets that answer first. */
    mayPoll: ({ context }, now: number) => receivesAt(context.terms, now),
    conflictsAgain: ({ context }, now: number) =>
      receivesAt(context.terms, now) && now - context.conflictAt < CONFLICT_PACE_MS,
  },
  delays: {
    pollEnds: ({ context }) =>
      Math.max(0, Math.min(context.waiting?.timeoutMs ?? 0, lifeOf(context))),
  },
})

/** Answers the held poll with nothing. */
export const letGo = {
  target: 'quiet' as const,
  actions: [
    {
      type: 'reply' as const,
      params: ({ context }: { context: ApiKeyContext }): Reply =>
        accepted(waitingIn(context), EMPTY_PAGE),
    },
    'release' as const,
  ],
}

/** The key was changed: adopts its new terms. */
export const takeTerms = [
  { type: 'adopt' as const, params: ({ event }: { event: KeyChanged }) => event.terms },
  { type: 'reply' as const, params: ({ event }: { event: Command }): Reply => accepted(event) },
]

/** The held poll is answered with the rest of the updates, or refused with the reason. */
export const lastRead = {
  target: 'quiet' as const,
  actions: [
    {
      type: 'read' as const,
      params: ({ context }: { context: ApiKeyContext }) => readAnew(waitingIn(context)),
    },
    'release' as const,
  ],
}
