/** The link machine with its effects: answers go to the network, and every step is stored before it is told. */

import { createActor, type EventObject, fromCallback, type SnapshotFrom } from 'xstate'
import type { LinkEvent, LinkState, ShownStep } from '../../machines/link/events.ts'
import { linkMachine } from '../../machines/link/machine.ts'
import { failed, LinkRefused, settle } from '../../machines/model/failure.ts'
import type { LinkReason } from '../../machines/model/reason.ts'
import { Activation } from '../host/activation.ts'
import { within } from '../host/time.ts'
import type {
  AccountIdentity,
  Json,
  LinkAnswer,
  LinkAttempt,
  LinkStep,
  Platform,
} from '../ports/platform.ts'
import type { Clock, Logger } from '../ports/ports.ts'
import { LinkEnding } from './ending.ts'

export type LinkActor = Activation<LinkEvent, SnapshotFrom<typeof linkMachine>>

/** What is known of a flow when its actor begins. */
export interface LinkFacts {
  readonly sessionId: string
  readonly platform: string
  readonly state: LinkState
  readonly step: ShownStep | undefined
  /** What another process goes on with; null where the network demanded a live connection. */
  readonly stored: Json
  readonly attemptsLeft: number
  readonly expiresAt: number
  readonly credentialId: number | undefined
  readonly reason: LinkReason | undefined
}

export interface LinkStore {
  saveStep(sessionId: string, step: ShownStep, stored: Json): Promise<void>
  saveEnd(
    sessionId: string,
    state: LinkState,
    attemptsLeft: number,
    reason?: LinkReason,
  ): Promise<void>
  /**
   * Creates or revives the credential with its secrets in one commit, and starts its actor. Rejects with `LinkRefused`
   * where it is another account than was to be linked again.
   */
  finish(sessionId: string, account: AccountIdentity, secrets: Json): Promise<number>
}

export interface LinkWorld {
  readonly platform: Platform
  readonly store: LinkStore
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds an answer may take on the network. */
  readonly answerTakes: number
  /** Rejects when codes were sent too often. */
  admitResend(): Promise<void>
}

/** `live` is the attempt that this process began; without it the flow goes on from what is stored. */
export function activateLink(
  facts: LinkFacts,
  live: LinkAttempt | undefined,
  world: LinkWorld,
): LinkActor {
  const { platform, store, clock } = world
  const { sessionId } = facts
  const onDefect = (cause: unknown) => world.logger.error({ err: cause }, 'a link flow failed')
  let attempt = live
  const ending = new LinkEnding(store, sessionId, onDefect)
  const limited = <Result>(work: (signal: AbortSignal) => Promise<Result>) =>
    within(world.answerTakes, undefined, work)

  const resumed = async () => {
    attempt ??= await limited((signal) => platform.resumeLink(facts.stored, signal))
    return attempt
  }

  const finish = async (
    requestId: string,
    { account, secrets }: Extract<LinkStep, { kind: 'done' }>,
  ): Promise<LinkEvent> => {
    try {
      const credentialId = await store.finish(sessionId, account, secrets)
      return { type: 'link.finished', requestId, credentialId }
    } catch (cause) {
      if (!(cause instanceof LinkRefused)) throw cause
      const { reason, failure } = cause
      return { type: 'link.refused', requestId, reason, description: failure.description }
    }
  }

  /** Stores the step, then says what the machine is to know of it. */
  const reach = async (requestId: string, step: LinkStep): Promise<LinkEvent> => {
    switch (step.kind) {
      case 'done':
        return finish(requestId, step)
      case 'refused':
        return {
          type: 'link.refused',
          requestId,
          reason: step.reason,
          description: step.description,
        }
      default: {
        const shown = shownStep(step, clock.now())
        await store.saveStep(sessionId, shown, step.stored)
        const wrong = step.kind !== 'show' && step.wrong
        if (wrong) return { type: 'answer.wrong', requestId, what: step.kind }
        return { type: 'step.reached', requestId, step: shown }
      }
    }
  }

  /** What the network accepted an answer with, until it is stored: no network takes that answer twice. */
  let accepted: LinkStep | undefined

  const give = async (requestId: string, answer: LinkAnswer): Promise<LinkEvent> => {
    const outcome = await settle(async () => {
      if (answer.kind === 'resend') await world.admitResend()
      const current = await resumed()
      const step = accepted ?? (await limited((signal) => current.answer(answer, signal)))
      if (isAccepting(step)) accepted = step
      const event = await reach(requestId, step)
      accepted = undefined
      return event
    }, onDefect)
    if (outcome.ok) return outcome.result
    return { type: 'answer.failed', requestId, failure: outcome.failure }
  }

  const logic = linkMachine.provide({
    actors: {
      watch: fromCallback<EventObject, undefined>(({ sendBack }) => {
        const leaving = new AbortController()
        const watch = async () => {
          const current = await resumed()
          sendBack(await reach('', await current.changed(leaving.signal)))
        }
        watch().catch((cause) => {
          if (leaving.signal.aborted) return
          onDefect(cause)
          sendBack({
            type: 'link.refused',
            requestId: '',
            reason: 'network',
            description: 'the platform did not answer',
          })
        })
        return () => leaving.abort()
      }),
    },
    actions: {
      answer: async ({ self }, { requestId, code, password }) => {
        const answer: LinkAnswer =
          code === undefined
            ? { kind: 'password', password: password ?? '' }
            : { kind: 'code', code }
        self.send(await give(requestId, answer))
      },
      resend: async ({ self }, { requestId }) => {
        self.send(await give(requestId, { kind: 'resend' }))
      },
      save: ({ context }, state) => {
        ending.reach(state, context.attemptsLeft, context.reason)
      },
    },
  })
  const actor = createActor(logic, {
    clock,
    input: { ...facts, expiresInMs: facts.expiresAt - clock.now() },
  })
  const activation: LinkActor = new Activation(actor, () => clock.now(), {
    before: () => ending.stored(),
  })
  activation.closed.then(() => attempt?.close()).catch(onDefect)
  return activation
}

const isAccepting = (step: LinkStep): boolean =>
  step.kind === 'done' || (step.kind === 'password' && !step.wrong)

/** What of a step its user may see. */
export function shownStep(
  step: Exclude<LinkStep, { kind: 'done' | 'refused' }>,
  now: number,
): ShownStep {
  switch (step.kind) {
    case 'code':
      return {
        state: 'code_sent',
        sentVia: step.sentVia,
        ...(step.length !== undefined && { codeLength: step.length }),
        ...(step.resendAfterSeconds !== undefined && {
          resendAt: now + step.resendAfterSeconds * 1000,
        }),
      }
    case 'password':
      return {
        state: 'password_needed',
        ...(step.hint !== undefined && { passwordHint: step.hint }),
      }
    case 'show': {
      const { form, value, expiresInSeconds } = step
      return { state: 'waiting', show: { form, value, until: now + expiresInSeconds * 1000 } }
    }
  }
}

/** A flow that only its first process could go on with is over in any other. */
export function resumable(facts: LinkFacts): LinkFacts {
  const isOpen = ['code_sent', 'password_needed', 'waiting'].includes(facts.state)
  return isOpen && facts.stored === null ? { ...facts, state: 'expired' } : facts
}

/** The first step of a flow; a network that refuses at once is a refusal of the request. */
export function refuseAtOnce(step: LinkStep): Exclude<LinkStep, { kind: 'refused' }> {
  if (step.kind !== 'refused') return step
  const { reason, description, retryAfterSeconds } = step
  if (retryAfterSeconds === undefined) throw failed('bad_request', description)
  // The network's own brake is one thing, a network that is not there another.
  if (reason === 'flood_wait') throw failed('rate_limited', '', { retryAfterSeconds })
  throw failed('unavailable', description, { retryAfterSeconds })
}
