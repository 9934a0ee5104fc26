/** The credential machine with its effects: one machine for all credentials, an actor for each. */
import type { PerformOperation } from '../../machines/credential/events.ts'
import { credentialMachine } from '../../machines/credential/machine.ts'
import type { CredentialContext, Resume } from '../../machines/credential/setup.ts'
import type { Passed } from '../../machines/model/operation-passing.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { HostedActor } from '../host/actor.ts'
import { ActorHost, type Inspected, jitteredCrashDelays } from '../host/host.ts'
import { jittered, notBefore } from '../host/time.ts'
import type { CredentialFacts } from '../ports/ports.ts'
import { CredentialEffects } from './effects.ts'
import type { PassCall } from './pass.ts'
import { cutShort } from './perform.ts'
import { Timeline } from './timeline.ts'
import type { CredentialWorld } from './world.ts'

export type CredentialActor = HostedActor<typeof credentialMachine, CredentialEffects>

const host = new ActorHost<typeof credentialMachine, CredentialEffects>({
  // There are thousands of them.
  shared: 'inspected',
  cutShort,
  ended: ({ effects }) => effects.releaseTurn(),
  provide: (host) =>
    credentialMachine.provide({
      delays: {
        ...jitteredCrashDelays,
        probeEvery: ({ self }) => jittered(host.effectsOf(self).world.timing.probeEvery),
        probeAgain: ({ self }) => jittered(host.effectsOf(self).world.timing.probeAgain),
        backoff: ({ context }) =>
          Math.max(
            notBefore(context.retryAfterMs),
            jittered(Math.min(60_000, 500 * 2 ** context.losses)),
          ),
        // The rest of it: a lost session or a wait for its turn may have come in between.
        limitEnds: ({ self, context }) =>
          Math.max(0, (context.limit?.until ?? 0) - host.effectsOf(self).world.clock.now()),
      },
      actors: {
        turn: host.service((effects, send) => effects.awaitTurn(send)),
        session: host.service((effects, send) => effects.openSession(send)),
        recovery: host.service((effects, send) => effects.awaitStorage(send)),
        probe: host.service((effects, send) => effects.probe(send)),
        deletion: host.service((effects, send) => effects.storeDeletion(send)),
        signOut: host.service((effects, send) => effects.signOut(send)),
        deactivation: host.service((effects, send) => effects.deactivate(send)),
      },
      actions: {
        reply: host.reply,
        releaseTurn: ({ self, event }) =>
          host
            .effectsOf(self)
            .releaseTurn(event.type === 'session.lost' || event.type === 'session.revoked'),
        forgetSession: ({ self }, link) => host.effectsOf(self).forgetSession(link),
        perform: async ({ self, context }, request) => {
          const { requestId } = request
          const outcome = await host.effectsOf(self).perform(context, request)
          self.send({ type: 'request.settled', reply: { type: 'reply', requestId, outcome } })
        },
        check: async ({ self }, { requestId }) => {
          const outcome = await host.effectsOf(self).check()
          self.send({ type: 'request.settled', reply: { type: 'reply', requestId, outcome } })
        },
      },
    }),
})

/** The state that the earlier actors of a credential leave to the next one. */
export interface Past {
  readonly timeline: Timeline
  readonly crashes: readonly number[]
  /** The restriction in force. */
  readonly limit?: CredentialContext['limit']
}

export function activateCredential(
  facts: CredentialFacts,
  resume: Resume,
  world: CredentialWorld,
  { timeline, crashes, limit }: Past = {
    timeline: new Timeline(facts, world.store, world.clock),
    crashes: [],
  },
): CredentialActor {
  const { clock, changed } = world
  const input = {
    credentialId: facts.credentialId,
    settings: facts.settings,
    resume,
    crashes,
    ...(facts.reason !== undefined && resume !== 'queued' && { reason: facts.reason }),
    ...limitLeft(facts, limit, clock.now()),
  }
  let effects: CredentialEffects | undefined
  const inspect = (inspection: Inspected) => {
    // An inspector that throws would stop the actor.
    try {
      timeline.observe(inspection)
    } catch (cause) {
      effects?.onDefect(cause)
    }
  }
  return host.begin({ clock, input, inspect, changed }, (ref) => {
    effects = new CredentialEffects(facts, world, ref)
    return new HostedActor(ref, effects, clock, host)
  })
}

/** Whether an account may be asked: the machine gets a command only where it has to refuse. */
export function isOnline({ value }: Pick<CredentialActor['snapshot'], 'value'>): boolean {
  const live = typeof value === 'object' && 'live' in value && value.live
  // Not "matches": it copies the value, and every call asks.
  return typeof live === 'object' && 'online' in live
}

/** Resolves with the network's answer. */
export async function passOn(credential: CredentialActor, request: PassCall): Promise<Passed> {
  const { snapshot, isActive } = credential
  if (isActive && isOnline(snapshot)) return credential.effects.pass(request)
  const { call: operation, ...about } = request
  const now = Date.now()
  return credential.ask<Passed>({ type: 'operation.perform', operation, ...about, now })
}

/** Resolves with the result in the bot API's JSON. */
export function perform(
  credential: CredentialActor,
  request: Omit<PerformOperation, 'requestId'>,
): Promise<Json> {
  if (!isOnline(credential.snapshot)) return credential.ask<Json>(request)
  return credential.askDirectly<Json>(request, (event) =>
    credential.effects.perform(credential.snapshot.context, event as PerformOperation),
  )
}

/** The row has one reason: that of the restriction only while the restriction is all that is wrong. */
function limitLeft(
  { limitedUntil, state, reason }: CredentialFacts,
  limit: Past['limit'],
  now: number,
) {
  const until = limit?.until ?? limitedUntil
  if (until === undefined || until <= now) return {}
  const stored = state === 'live.limited' ? reason : undefined
  return { limit: { reason: limit?.reason ?? stored ?? 'flood_wait', forMs: until - now, until } }
}
