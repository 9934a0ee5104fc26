/** The delivery to one endpoint: it goes on, it rests after failures and probes, or it has given up. */
import { assign, setup } from 'xstate'
import * as port from '../model/effects.ts'
import { crashesTooOften, restAfter } from '../supervision/machine.ts'
import { GONE_MS, HOPELESS_MS } from './schedule.ts'

/** How many attempts may be under way at once: as many as the webhook allows, one, or none. */
export type Flow = 'open' | 'single' | 'closed'

/** What an owner is told of an endpoint that gets nothing. */
export type Notice =
  | 'failing_15_minutes'
  | 'failing_1_hour'
  | 'failing_24_hours'
  | 'suspended'
  | 'removed'
  | 'crash_loop'

/** The longest first. */
const notices: readonly (readonly [afterMs: number, notice: Notice])[] = [
  [86_400_000, 'failing_24_hours'],
  [3_600_000, 'failing_1_hour'],
  [900_000, 'failing_15_minutes'],
]

/** What is stored of an endpoint that fails. */
export interface Trouble {
  /** In a row. */
  readonly failures: number
  readonly since: number
  /** Since when every answer was `410 Gone`. */
  readonly goneSince: number | undefined
  readonly dueAt: number
}

export interface WebhookInput {
  readonly trouble: Trouble | undefined
  readonly suspended: boolean
  /** When the actors before this one crashed, as far as it still counts. */
  readonly crashes?: readonly number[]
  readonly now: number
}

export type WebhookEvent =
  /** Everything fails, or the probe did. */
  | { readonly type: 'endpoint.failed'; readonly trouble: Trouble; readonly now: number }
  | { readonly type: 'endpoint.answered' }
  /** An update that has nothing to do with what failed. */
  | { readonly type: 'lane.fresh' }

interface WebhookContext {
  readonly trouble: Trouble | undefined
  readonly suspended: boolean
  readonly crashes: readonly number[]
  readonly now: number
}

/** Where it goes on. */
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

export const webhookMachine = setup({
  types: {
    input: {} as WebhookInput,
    context: {} as WebhookContext,
    events: {} as WebhookEvent,
  },
  actions: {
    flow: port.action<Flow>('flow'),
    /** Stores how the endpoint stands. */
    note: port.action<'delivering' | 'resting' | 'suspended'>('note'),
    /** Somebody has to come back at that time, even if this actor is gone by then. */
    remind: port.action<number>('remind'),
    /** The owner is told, once of each; nothing where there is nothing to tell. */
    tell: port.action<Notice | undefined>('tell'),
    /** The receiver wants no more: the webhook is removed. */
    turnOff: port.action('turnOff'),
    learn: assign((_, { trouble, now }: { trouble: Trouble; now: number }) => ({ trouble, now })),
    forget: assign({ trouble: undefined }),
  },
  guards: {
    hasCrashed: ({ context }) => context.crashes.length > 0,
    crashesTooOften: ({ context }) => crashesTooOften(context.crashes),
    isSuspended: ({ context }) => context.suspended,
    isTroubled: ({ context }) => context.trouble !== undefined,
    isGone: ({ context: { trouble, now } }) => now - (trouble?.goneSince ?? now) >= GONE_MS,
    isHopeless: ({ context: { trouble, now } }) => now - (trouble?.since ?? now) >= HOPELESS_MS,
  },
  delays: {
    rest: ({ context }) => Math.max(0, known(context).dueAt - context.now),
    crashRest: ({ context }) => restAfter(context.crashes),
    tryAgain: 300_000,
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
    // Its actor is gone, and this is the next one. The flow is closed as it began: what is done here might crash again.
    crashed: { after: { crashRest: resumed } },
    // What crashed again and again may be well by now: it is not left to wait for somebody.
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
        { guard: 'isGone', target: 'off', actions: { type: 'tell', params: 'removed' } },
        {
          guard: 'isHopeless',
          target: 'suspended',
          actions: [
            { type: 'note', params: 'suspended' },
            { type: 'tell', params: 'suspended' },
          ],
        },
        {
          target: 'resting',
          actions: [
            { type: 'note', params: 'resting' },
            { type: 'tell', params: ({ context }) => noticeAt(context) },
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
        // What was under way when the rest began has got through after all.
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
    // Until a webhook is set anew or updates are asked for again.
    suspended: { entry: { type: 'flow', params: 'closed' } },
    off: { type: 'final', entry: [{ type: 'flow', params: 'closed' }, 'turnOff'] },
  },
})
