/** One diagnosis: five steps in their order, taken one by one or all at once. */
import { assign, emit, setup } from 'xstate'
import * as port from '../model/effects.ts'
import { accepted, type Command, type Failure, type Reply, refused } from '../model/protocol.ts'
import { type DiagnosisEvent, type Finding, STEPS, type Step, type TakeStep } from './events.ts'

interface DiagnosisInput {
  readonly findings: readonly Finding[]
  readonly sendTo: string | undefined
}

interface DiagnosisContext extends DiagnosisInput {
  /** The command whose steps are being taken. */
  readonly asked: TakeStep | undefined
}

const busy: Failure = {
  code: 'conflict',
  description: 'a step of the diagnosis is being taken',
  retryAfterSeconds: 1,
}
const ended: Failure = {
  code: 'bad_request',
  description: 'the diagnosis is finished; start another',
}

const turnAway = (failure: Failure) => ({
  actions: {
    type: 'reply' as const,
    params: ({ event }: { event: Command }): Reply => refused(event, failure),
  },
})

const askedIn = ({ asked }: DiagnosisContext): TakeStep => {
  if (!asked) throw new Error('nobody asked for a step')
  return asked
}

/** The step that comes next; undefined after the last one. */
export const nextStep = (findings: readonly Finding[]): Step | undefined => STEPS[findings.length]

export const diagnosisMachine = setup({
  types: {
    input: {} as DiagnosisInput,
    context: {} as DiagnosisContext,
    events: {} as DiagnosisEvent,
    emitted: {} as Reply,
  },
  actions: {
    check: port.action<{ step: Step | undefined; sendTo: string | undefined }>('check'),
    reply: emit((_, reply: Reply) => reply),
    begin: assign(({ context }, asked: TakeStep) => ({
      asked,
      sendTo: asked.sendTo ?? context.sendTo,
    })),
    record: assign({
      findings: ({ context }, finding: Finding) => [...context.findings, finding],
    }),
  },
  guards: {
    isOver: ({ context }) => nextStep(context.findings) === undefined,
    isLast: ({ context }) => context.findings.length + 1 === STEPS.length,
    wantsAll: ({ context }) => context.asked?.all === true,
  },
}).createMachine({
  id: 'diagnosis',
  context: ({ input }) => ({ ...input, asked: undefined }),
  initial: 'judging',
  states: {
    judging: { always: [{ guard: 'isOver', target: 'finished' }, { target: 'waiting' }] },
    waiting: {
      on: {
        'diagnosis.next': {
          target: 'checking',
          actions: { type: 'begin', params: ({ event }) => event },
        },
      },
    },
    checking: {
      entry: {
        type: 'check',
        params: ({ context }) => ({
          step: nextStep(context.findings),
          sendTo: context.sendTo,
        }),
      },
      on: {
        'diagnosis.next': turnAway(busy),
        'step.checked': [
          {
            guard: 'isLast',
            target: 'finished',
            actions: [
              { type: 'record', params: ({ event }) => event.finding },
              { type: 'reply', params: ({ context }) => accepted(askedIn(context)) },
            ],
          },
          {
            guard: 'wantsAll',
            target: 'checking',
            reenter: true,
            actions: { type: 'record', params: ({ event }) => event.finding },
          },
          {
            target: 'waiting',
            actions: [
              { type: 'record', params: ({ event }) => event.finding },
              { type: 'reply', params: ({ context }) => accepted(askedIn(context)) },
            ],
          },
        ],
        'step.unchecked': {
          target: 'waiting',
          actions: {
            type: 'reply',
            params: ({ context, event }) => refused(askedIn(context), event.failure),
          },
        },
      },
    },
    finished: { on: { 'diagnosis.next': turnAway(ended) } },
  },
})
