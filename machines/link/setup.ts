/** The vocabulary of the link machine, and the transitions that several of its states share. */

import { assign, emit, setup } from 'xstate'
import * as port from '../model/effects.ts'
import { accepted, type Command, type Failure, type Reply, refused } from '../model/protocol.ts'
import type { LinkReason } from '../model/reason.ts'
import type { LinkEvent, LinkInput, LinkState, ShownStep, VerifyLink } from './events.ts'

export const ended: Failure = {
  code: 'bad_request',
  description: 'the link session is over; start again',
  reason: 'link_over',
}
const busy: Failure = {
  code: 'conflict',
  description: 'the last answer is still being checked',
  reason: 'answer_pending',
  retryAfterSeconds: 1,
}
export const wanted = (what: string): Failure => ({
  code: 'bad_request',
  description: `the link session waits for ${what}`,
})

export const turnAway = (failure: Failure) => ({
  actions: {
    type: 'reply' as const,
    params: ({ event }: { event: Command }): Reply => refused(event, failure),
  },
})

/** How a flow that is over refuses commands, and answers that were under way when it ended. */
export const over = {
  'link.verify': turnAway(ended),
  'link.resend': turnAway(ended),
  'link.cancel': turnAway(ended),
  'step.reached': turnAway(ended),
  'answer.wrong': turnAway(ended),
  'answer.failed': turnAway(ended),
  'link.refused': turnAway(ended),
}

export const cancelling = [
  { type: 'save' as const, params: 'cancelled' as const },
  { type: 'reply' as const, params: ({ event }: { event: Command }): Reply => accepted(event) },
]

/** Whoever lost the reply to the last answer gives it again. */
export const again = {
  actions: {
    type: 'reply' as const,
    params: ({ event }: { event: Command }): Reply => accepted(event),
  },
}

export const link = setup({
  types: {
    input: {} as LinkInput,
    context: {} as LinkInput,
    events: {} as LinkEvent,
    emitted: {} as Reply,
  },
  actors: { watch: port.service('watch') },
  actions: {
    answer: port.action<VerifyLink>('answer'),
    resend: port.action<Command>('resend'),
    save: port.action<LinkState>('save'),
    reply: emit((_, reply: Reply) => reply),
    show: assign((_, step: ShownStep) => ({ step })),
    countAttempt: assign({ attemptsLeft: ({ context }) => context.attemptsLeft - 1 }),
    finish: assign((_, credentialId: number) => ({ credentialId })),
    blame: assign((_, reason: LinkReason) => ({ reason })),
  },
  guards: {
    is: ({ context }, state: LinkState) => context.state === state,
    isPast: ({ context }) => context.expiresInMs <= 0,
    hasCode: (_, { code }: VerifyLink) => code !== undefined,
    hasPassword: (_, { password }: VerifyLink) => password !== undefined,
    shows: (_, { step, state }: { step: ShownStep; state: LinkState }) => step.state === state,
    isLastAttempt: ({ context }) => context.attemptsLeft <= 1,
    tooSoon: ({ context }, now: number) => now < (context.step?.resendAt ?? 0),
  },
  delays: { expiry: ({ context }) => context.expiresInMs },
})

export const toWaiting = (state: ShownStep['state']) => ({
  guard: {
    type: 'shows' as const,
    params: ({ event }: { event: { step: ShownStep } }) => ({ step: event.step, state }),
  },
  target: `#link.open.${state}` as const,
  actions: [
    { type: 'show' as const, params: ({ event }: { event: { step: ShownStep } }) => event.step },
    { type: 'reply' as const, params: ({ event }: { event: Command }): Reply => accepted(event) },
  ],
})

/** The transitions while the network checks an answer: a wrong one keeps the step, the last wrong one ends the flow. */
export function checking(back: 'code_sent' | 'password_needed', wrong: string) {
  const reply = (description: string) => ({
    type: 'reply' as const,
    params: ({ event }: { event: Command }): Reply =>
      refused(event, { code: 'bad_request', description }),
  })
  return {
    'link.verify': turnAway(busy),
    'link.resend': turnAway(busy),
    'answer.wrong': [
      {
        guard: 'isLastAttempt' as const,
        target: '#link.failed' as const,
        actions: [
          'countAttempt' as const,
          { type: 'blame' as const, params: 'too_many_attempts' as const },
          { type: 'save' as const, params: 'failed' as const },
          reply(`${wrong}; no attempts are left, start again`),
        ],
      },
      {
        target: back,
        actions: ['countAttempt' as const, { type: 'save' as const, params: back }, reply(wrong)],
      },
    ],
    'answer.failed': {
      target: back,
      actions: {
        type: 'reply' as const,
        params: ({ event }: { event: Command & { failure: Failure } }): Reply =>
          refused(event, event.failure),
      },
    },
  }
}
