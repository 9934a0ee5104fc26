/** The link machine with its effects: one machine for all link flows, an actor for each. */
import type { LinkState, ShownStep } from '../../machines/link/events.ts'
import { linkMachine } from '../../machines/link/machine.ts'
import { failed } from '../../machines/model/failure.ts'
import type { LinkReason } from '../../machines/model/reason.ts'
import { HostedActor } from '../host/actor.ts'
import { ActorHost } from '../host/host.ts'
import type { AccountIdentity, Json, LinkAttempt, LinkStep, Platform } from '../ports/platform.ts'
import type { Clock, Logger } from '../ports/ports.ts'
import { LinkEffects } from './effects.ts'

export type LinkActor = HostedActor<typeof linkMachine, LinkEffects>

/** The stored state that a flow begins with. */
export interface LinkFacts {
  readonly sessionId: string
  readonly platform: string
  readonly state: LinkState
  readonly step: ShownStep | undefined
  /** Another process resumes the flow from this; null where the network demanded a live connection. */
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

const host = new ActorHost<typeof linkMachine, LinkEffects>({
  before: ({ ending }) => ending.stored(),
  ended: ({ effects }, cause) => effects.end(cause),
  provide: (host) =>
    linkMachine.provide({
      actors: { watch: host.service((effects, send) => effects.watch(send)) },
      actions: {
        reply: host.reply,
        answer: async ({ self }, command) => {
          self.send(await host.effectsOf(self).answer(command))
        },
        resend: async ({ self }, { requestId }) => {
          self.send(await host.effectsOf(self).resend(requestId))
        },
        save: ({ self, context }, state) => {
          host.effectsOf(self).ending.reach(state, context.attemptsLeft, context.reason)
        },
      },
    }),
})

/** `attempt` was begun by this process; without it the flow goes on from what is stored. */
export function activateLink(
  facts: LinkFacts,
  attempt: LinkAttempt | undefined,
  world: LinkWorld,
): LinkActor {
  const { clock } = world
  const input = { ...facts, expiresInMs: facts.expiresAt - clock.now() }
  const effects = new LinkEffects(facts, attempt, world)
  return host.begin({ clock, input }, (ref) => new HostedActor(ref, effects, clock, host))
}

/** A flow that only its first process could go on with is over in any other. */
export function resumable(facts: LinkFacts): LinkFacts {
  const isOpen = ['code_sent', 'password_needed', 'waiting'].includes(facts.state)
  return isOpen && facts.stored === null ? { ...facts, state: 'expired' } : facts
}

/** The first step of a flow; a network that refuses at once is a refusal of the request. */
export function refuseAtOnce(step: LinkStep): Exclude<LinkStep, { kind: 'refused' }> {
  if (step.kind !== 'refused') return step
  const { reason, description, retryAfterSeconds, why } = step
  const more = { reason, ...why }
  if (retryAfterSeconds === undefined) throw failed('bad_request', description, more)
  // The network's own brake is one thing, a network that is not there another.
  if (reason === 'flood_wait') throw failed('rate_limited', '', { retryAfterSeconds })
  throw failed('unavailable', description, { retryAfterSeconds, ...more })
}
