/** The credential machine with its effects: one machine for all credentials, an actor for each. */
import { createActor, type SnapshotFrom } from 'xstate'
import type { CredentialEvent } from '../../machines/credential/events.ts'
import { credentialMachine } from '../../machines/credential/machine.ts'
import type { CredentialContext, Resume } from '../../machines/credential/setup.ts'
import { restAfter } from '../../machines/model/crash.ts'
import { failed } from '../../machines/model/failure.ts'
import { Activation } from '../host/activation.ts'
import { Services } from '../host/services.ts'
import { jittered } from '../host/time.ts'
import type { FileStream, Platform } from '../ports/platform.ts'
import type {
  Clock,
  CredentialFacts,
  CredentialStore,
  Identities,
  Logger,
  Owned,
  Storage,
  UpdateLog,
} from '../ports/ports.ts'
import { CredentialEffects } from './effects.ts'
import type { Lease } from './lease.ts'
import { cutShort } from './perform.ts'
import type { StartBudget } from './start-budget.ts'
import { Timeline } from './timeline.ts'

export type CredentialActor = Activation<CredentialEvent, SnapshotFrom<typeof credentialMachine>>

/** Milliseconds. */
export interface Timing {
  readonly probeEvery: number
  readonly probeAgain: number
  readonly probeTakes: number
  readonly performTakes: number
  readonly signOutTakes: number
  /** How long a call waits for an account that is not online yet. */
  readonly holdFor: number
}

export interface CredentialWorld {
  readonly platform: Platform
  readonly store: CredentialStore
  readonly updates: UpdateLog
  readonly storage: Storage
  readonly identities: Identities
  readonly budget: StartBudget
  readonly clock: Clock
  readonly logger: Logger
  readonly timing: Timing
  readonly lease: Pick<Lease, 'isValid'>
  /** Another node has claimed it: whatever of it lives in this process ends. */
  lost(owned: Owned): void
  /** The actor has a new snapshot. */
  changed?(): void
}

const services = new Services<CredentialEffects>()

const effectsOf = new WeakMap<CredentialActor, CredentialEffects>()

/** The bytes of a native file from `offset` on, past the machine. */
export async function downloadFrom(
  credential: CredentialActor,
  file: string,
  offset: number,
  signal: AbortSignal,
): Promise<FileStream> {
  const effects = effectsOf.get(credential)
  if (effects) return await effects.download(file, offset, signal)
  throw failed('unavailable', 'the credential is starting', { retryAfterSeconds: 1 })
}

const logic = credentialMachine.provide({
  delays: {
    probeEvery: ({ system }) => jittered(services.of({ system }).world.timing.probeEvery),
    probeAgain: ({ system }) => jittered(services.of({ system }).world.timing.probeAgain),
    crashRest: ({ context }) => jittered(restAfter(context.crashes)),
    tryAgain: () => jittered(300_000),
    backoff: ({ context }) =>
      Math.max(context.retryAfterMs, jittered(Math.min(60_000, 500 * 2 ** context.losses))),
    // What is left of it: a lost session or a wait for its turn may have come in between.
    limitEnds: ({ context, system }) =>
      Math.max(0, (context.limit?.until ?? 0) - services.of({ system }).world.clock.now()),
  },
  actors: {
    turn: services.create((effects, send) => effects.awaitTurn(send)),
    session: services.create((effects, send) => effects.openSession(send)),
    recovery: services.create((effects, send) => effects.awaitStorage(send)),
    probe: services.create((effects, send) => effects.probe(send)),
    deletion: services.create((effects, send) => effects.storeDeletion(send)),
    signOut: services.create((effects, send) => effects.signOut(send)),
    deactivation: services.create((effects, send) => effects.deactivate(send)),
  },
  actions: {
    releaseTurn: ({ system }) => services.of({ system }).releaseTurn(),
    forgetSession: ({ system }) => services.of({ system }).forgetSession(),
    perform: async ({ self, system, context }, request) => {
      const { requestId } = request
      const outcome = await services.of({ system }).perform(context, request)
      self.send({ type: 'request.settled', reply: { type: 'reply', requestId, outcome } })
    },
    check: async ({ self, system }, { requestId }) => {
      const outcome = await services.of({ system }).check()
      self.send({ type: 'request.settled', reply: { type: 'reply', requestId, outcome } })
    },
    store: ({ system }, reported) => services.of({ system }).store(reported),
  },
})

/** What the actors before left to the next one of their credential. */
export interface Past {
  readonly timeline: Timeline
  readonly crashes: readonly number[]
  /** A restriction that was in force. */
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
  const { clock } = world
  const actor = createActor(logic, {
    clock,
    inspect(inspection) {
      // An inspector that throws would leave the actor standing still.
      try {
        timeline.observe(inspection)
      } catch (cause) {
        effects.onDefect(cause)
      }
    },
    input: {
      credentialId: facts.credentialId,
      settings: facts.settings,
      resume,
      crashes,
      ...(facts.reason !== undefined && resume !== 'queued' && { reason: facts.reason }),
      ...limitLeft(facts, limit, clock.now()),
    },
  })
  const effects = new CredentialEffects(facts, world, actor)
  const { changed } = world
  // Its crash is told to those who live with it.
  if (changed) actor.subscribe({ next: changed, error: () => undefined })
  services.admit(actor, effects)
  const activation: CredentialActor = new Activation(actor, () => clock.now(), { cutShort })
  effectsOf.set(activation, effects)
  activation.closed.then(() => {
    services.endAll(actor)
    effects.releaseTurn()
  })
  return activation
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
