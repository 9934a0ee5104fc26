/** The delivery to one endpoint: delivering, resting after failures, probing, suspended, or down after a crash. */
import { assign, setup } from 'xstate'
import * as port from '../model/effects.ts'
import { crashDelays, crashGuards } from '../supervision/machine.ts'
import { timesAt, untriedMs } from './progress.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Pauses after the first failure, the second, and so on: at once, then soon, then ever more rarely, for a week. */
const first = [0, 1, 2, 4, 8, 15, 30, 60].map((seconds) => seconds * SECOND)
const JITTER = 0.2

/** After so long with failures alone, the endpoint counts as abandoned. */
export const HOPELESS_MS = 7 * DAY
/** After so long with `410 Gone` alone, the receiver wants no more (the reference's figure). */
const GONE_MS = 23 * HOUR
/** How long a receiver may ask to be left alone (the reference's figure). */
export const LONGEST_REST_MS = HOUR

interface Failing {
  /** In a row. */
  readonly failures: number
  readonly forMs: number
}

/** `chance` is drawn from 0 to 1, so that endpoints which failed together do not come back together. */
export function waitAfter({ failures, forMs }: Failing, chance: number): number {
  const later = forMs < DAY ? MINUTE : 15 * MINUTE
  const wait = first[failures - 1] ?? later
  return Math.round(wait * (1 - JITTER + 2 * JITTER * chance))
}

/** How many attempts may be under way at once: as many as the webhook allows, one, or none. */
export type Flow = 'open' | 'single' | 'closed'

/** A notice to the owner of an endpoint that gets nothing. */
export type Notice =
  | 'failing_15_minutes'
  | 'failing_1_hour'
  | 'failing_24_hours'
  | 'suspended'
  | 'removed'
  | 'crash_loop'

/** The longest time first. */
const notices: readonly (readonly [afterMs: number, notice: Notice])[] = [
  [86_400_000, 'failing_24_hours'],
  [3_600_000, 'failing_1_hour'],
  [900_000, 'failing_15_minutes'],
]

/** How an endpoint fails; stored with its webhook. Times in milliseconds. */
export interface Trouble {
  /** Consecutive failures. */
  readonly failures: number
  readonly since: number
  /** Since when every answer was `410 Gone`. */
  readonly goneSince: number | undefined
  /** When the next attempt is due. */
  readonly dueAt: number
}

/** Only the time in which somebody tried counts as time of failing. */
export function troubleAt(trouble: Trouble, now: number): Trouble {
  const { since, dueAt } = timesAt(trouble, now)
  const { goneSince } = trouble
  const later = untriedMs(dueAt, now)
  const gone = goneSince && Math.min(goneSince, now) + later
  return { ...trouble, since: since + later, goneSince: gone, dueAt: dueAt + later }
}

/** The failure of a probe. */
interface FailedProbe {
  /** Drawn from 0 to 1, for the jitter of the next rest. */
  readonly chance: number
  /** How long the endpoint asks to be left alone. */
  readonly restMs: number
}

export interface WebhookInput {
  readonly trouble: Trouble | undefined
  readonly suspended: boolean
  /** When earlier actors of this webhook crashed, as far as it still counts. */
  readonly crashes?: readonly number[]
  readonly now: number
}

export type WebhookEvent =
  /** Everything fails, or a probe failed. `trouble` counts the failures of the lane that was tried. */
  | {
      readonly type: 'endpoint.failed'
      readonly trouble: Trouble
      readonly probe?: FailedProbe
      readonly now: number
    }
  | { readonly type: 'endpoint.answered' }
  /** There is an update in a lane that never failed. */
  | { readonly type: 'lane.fresh' }

interface WebhookContext {
  readonly trouble: Trouble | undefined
  readonly suspended: boolean
  readonly crashes: readonly number[]
  readonly now: number
}

/** The states in which a delivery begins, also after a crash. */
const resumed = [
  { guard: 'isSuspended' as const, target: 'suspended' as const },
  { guard: 'isTroubled' as const, target: 'resting' as const },
  { target: 'delivering' as const },
]

const noticeAt = ({ trouble, now }: WebhookContext): Notice | undefined =>
  notices.find(([afterMs]) => now - (trouble?.since ?? now) >= afterMs)?.[1]

const known = ({ trouble }: WebhookContext): Trouble => {
  if (!trouble) throw new Error('nothing is known to have failed')
  return trouble
}

type Failed = Extract<WebhookEvent, { type: 'endpoint.failed' }>

/** A failed probe prolongs the rest by the endpoint's own count, whichever lane was tried. */
function learned(context: WebhookContext, { trouble, probe, now }: Failed): Trouble {
  if (!probe || !context.trouble) return trouble
  const before = troubleAt(context.trouble, now)
  const failures = before.failures + 1
  const wait = waitAfter({ failures, forMs: now - before.since }, probe.chance)
  const goneSince = trouble.goneSince && (before.goneSince ?? trouble.goneSince)
  const dueAt = now + Math.max(wait, probe.restMs)
  return { failures, since: before.since, goneSince, dueAt }
}

export const webhookMachine = setup({
  types: {
    input: {} as WebhookInput,
    context: {} as WebhookContext,
    events: {} as WebhookEvent,
  },
  actions: {
    flow: port.action<Flow>('flow'),
    /** Stores the state of the endpoint. */
    note: port.action<'delivering' | 'resting' | 'suspended'>('note'),
    /** Has the actor woken at that time, even if it sleeps by then. */
    remind: port.action<number>('remind'),
    /** Notifies the owner, once of each notice. */
    notify: port.action<Notice | undefined>('notify'),
    /** Removes the webhook: the receiver wants no more. */
    turnOff: port.action('turnOff'),
    learn: assign(({ context }, event: Failed) => ({
      trouble: learned(context, event),
      now: event.now,
    })),
    forget: assign({ trouble: undefined }),
  },
  guards: {
    ...crashGuards,
    isSuspended: ({ context }) => context.suspended,
    isTroubled: ({ context }) => context.trouble !== undefined,
    isGone: ({ context: { trouble, now } }) => now - (trouble?.goneSince ?? now) >= GONE_MS,
    isHopeless: ({ context: { trouble, now } }) => now - (trouble?.since ?? now) >= HOPELESS_MS,
  },
  delays: {
    rest: ({ context }) => Math.max(0, known(context).dueAt - context.now),
    ...crashDelays,
  },
}).createMachine({
  id: 'webhook',
  context: ({ input }) => ({ ...input, crashes: input.crashes ?? [] }),
  initial: 'waking',
  states: {
    waking: {
      always: [
        { guard: 'crashesTooOften', target: 'failed' },
        { guard: 'hasCrashed', target: 'crashed' },
        ...resumed,
      ],
    },
    // The actor before this one crashed. The flow stays closed, because an attempt might crash it again.
    crashed: { after: { crashRest: resumed } },
    // It crashed again and again, and is tried again without waiting for an operator.
    failed: { after: { tryAgain: resumed } },
    delivering: {
      entry: { type: 'flow', params: 'open' },
      on: {
        'endpoint.failed': {
          target: 'judging',
          actions: { type: 'learn', params: ({ event }) => event },
        },
      },
    },
    judging: {
      always: [
        { guard: 'isGone', target: 'off', actions: { type: 'notify', params: 'removed' } },
        {
          guard: 'isHopeless',
          target: 'suspended',
          actions: [
            { type: 'note', params: 'suspended' },
            { type: 'notify', params: 'suspended' },
          ],
        },
        {
          target: 'resting',
          actions: [
            { type: 'note', params: 'resting' },
            { type: 'notify', params: ({ context }) => noticeAt(context) },
            { type: 'remind', params: ({ context }) => known(context).dueAt },
          ],
        },
      ],
    },
    resting: {
      entry: { type: 'flow', params: 'closed' },
      after: { rest: 'probing' },
      on: {
        'lane.fresh': 'probing',
        // An attempt that was under way when the rest began has succeeded.
        'endpoint.answered': {
          target: 'delivering',
          actions: ['forget', { type: 'note', params: 'delivering' }],
        },
      },
    },
    probing: {
      entry: { type: 'flow', params: 'single' },
      on: {
        'endpoint.failed': {
          target: 'judging',
          actions: { type: 'learn', params: ({ event }) => event },
        },
        'endpoint.answered': {
          target: 'delivering',
          actions: ['forget', { type: 'note', params: 'delivering' }],
        },
      },
    },
    // Until the webhook is set again or updates are replayed.
    suspended: { entry: { type: 'flow', params: 'closed' } },
    off: { type: 'final', entry: [{ type: 'flow', params: 'closed' }, 'turnOff'] },
  },
})
