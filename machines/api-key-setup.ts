/** The vocabulary of the API key machine: what it knows, the rules of getUpdates, what it leaves to the actor. */
import { assign, emit, raise, setup } from 'xstate'
import type { ApiKeyEvent, KeyTerms, Poll, PollRead, PollUpdates, Scope } from './api-key-events.ts'
import { unauthorized } from './api-key-refusals.ts'
import { confirm } from './cursor.ts'
import * as port from './port.ts'
import { type Command, type Reply, refused } from './protocol.ts'
import { changeFilter, type Filter, pruneFilter } from './update-kinds.ts'

export interface ApiKeyInput {
  readonly apiKeyId: number
  readonly credentialId: number
  readonly terms: KeyTerms
  readonly revoked: boolean
  readonly cursor: number
  readonly filter: Filter
}

export interface ApiKeyContext extends ApiKeyInput {
  /** The poll that holds its connection until something arrives. */
  readonly waiting: (Poll & { readonly head: number }) | undefined
  readonly lastPoll: { readonly offset: number; readonly at: number } | undefined
  readonly conflictAt: number
  readonly current: Poll | undefined
}

/** The brakes on short polling and the pacing of conflicts; figures of the reference. */
const SAME_OFFSET_WAIT_MS = 3_000
const SAME_OFFSET_BURST_MS = 500
const CONFLICT_PACE_MS = 3_000

function pollFrom(context: ApiKeyContext, event: PollUpdates): Poll {
  const { lastPoll } = context
  const since =
    lastPoll?.offset === event.offset ? event.now - lastPoll.at : Number.POSITIVE_INFINITY
  return {
    requestId: event.requestId,
    after: context.cursor,
    keepNewest: event.offset < 0 ? -event.offset : undefined,
    limit: since < SAME_OFFSET_BURST_MS ? 1 : event.limit,
    timeoutMs:
      since < SAME_OFFSET_WAIT_MS
        ? Math.max(event.timeoutMs, SAME_OFFSET_WAIT_MS)
        : event.timeoutMs,
    filter: context.filter,
  }
}

/** The poll that is held; only asked for where the chart says there is one. */
export function waitingIn({ waiting }: ApiKeyContext): NonNullable<ApiKeyContext['waiting']> {
  if (!waiting) throw new Error('no poll is held')
  return waiting
}

export const apiKey = setup({
  types: {
    input: {} as ApiKeyInput,
    context: {} as ApiKeyContext,
    events: {} as ApiKeyEvent,
    emitted: {} as Reply,
  },
  actors: {
    listener: port.service<{ credentialId: number; after: number }>('listener'),
  },
  actions: {
    read: port.action<Poll | undefined>('read'),
    saveCursor: port.action('saveCursor'),
    reply: emit((_, reply: Reply) => reply),
    adopt: assign({ terms: (_, terms: KeyTerms) => terms }),
    confirm: assign(({ context }, event: PollUpdates) => {
      const cursor = confirm(context.cursor, event.offset, event.next)
      const filter =
        event.kinds === undefined
          ? context.filter
          : changeFilter(context.filter, event.kinds, event.next)
      return { cursor, filter: pruneFilter(filter, cursor) }
    }),
    begin: assign(({ context }, event: PollUpdates) => ({
      current: pollFrom(context, event),
      lastPoll: { offset: event.offset, at: event.now },
    })),
    moveTo: assign({ cursor: ({ context }, cursor: number) => Math.max(context.cursor, cursor) }),
    hold: assign({
      waiting: (_, { poll, head, cursor }: PollRead) => ({
        ...poll,
        held: true as const,
        keepNewest: undefined,
        after: cursor,
        head,
      }),
    }),
    advance: assign({
      waiting: ({ context }, head: number) => context.waiting && { ...context.waiting, head },
    }),
    release: assign({ waiting: undefined }),
    noteConflict: assign({ conflictAt: (_, now: number) => now }),
    endWaitingLater: raise(
      ({ context }) => ({ type: 'conflict.due' as const, requestId: waitingIn(context).requestId }),
      { delay: CONFLICT_PACE_MS },
    ),
  },
  guards: {
    isHeld: (_, poll: Poll) => poll.held === true,
    isRevoked: ({ context }) => context.revoked,
    isExpired: ({ context }, now: number) => now >= (context.terms.expiresAt ?? Infinity),
    lacksScope: ({ context }, scope: Scope | undefined) =>
      scope !== undefined && !context.terms.scopes.includes(scope),
    isAnswered: (_, { count, poll }: PollRead) => count > 0 || poll.timeoutMs === 0,
    isWaiting: ({ context }, { requestId }: Command) => context.waiting?.requestId === requestId,
    answersWaiting: ({ context }, { count, poll }: PollRead) =>
      count > 0 && context.waiting?.requestId === poll.requestId,
    nobodyWaits: ({ context }) => context.waiting === undefined,
    conflictedLately: ({ context }, now: number) => now - context.conflictAt < CONFLICT_PACE_MS,
  },
  delays: {
    pollEnds: ({ context }) => context.waiting?.timeoutMs ?? 0,
    burst: 1,
  },
})

/** The key has ended, and with it the poll that is held, if there is one. */
export const endWaiting = apiKey.enqueueActions(({ context, enqueue }) => {
  if (!context.waiting) return
  enqueue.emit(refused(context.waiting, unauthorized))
  enqueue.assign({ waiting: undefined })
})
