/** The credential machine with its effects: one session, its events into the log, operations over it. */
import { createActor, type SnapshotFrom } from 'xstate'
import { credentialMachine } from '../machines/credential.ts'
import type { CredentialEvent, EventsReported } from '../machines/credential-events.ts'
import type { Resume } from '../machines/credential-setup.ts'
import { admits, type ReceiveSettings } from '../machines/happening.ts'
import { Activation } from './activation.ts'
import { failed, settle } from './errors.ts'
import { perform } from './perform.ts'
import type { Platform, Session } from './platform.ts'
import type {
  Clock,
  CredentialFacts,
  CredentialStore,
  Identities,
  Logger,
  UpdateLog,
} from './ports.ts'
import { type Batches, rejectAll, reportTo } from './report.ts'
import { Services } from './services.ts'
import type { StartBudget } from './start-budget.ts'
import { jittered, within } from './time.ts'
import { Timeline } from './timeline.ts'

export type CredentialActor = Activation<CredentialEvent, SnapshotFrom<typeof credentialMachine>>

/** Milliseconds. */
export interface Timing {
  readonly probeEvery: number
  readonly probeAgain: number
  readonly probeTakes: number
  readonly performTakes: number
  readonly signOutTakes: number
}

export interface CredentialWorld {
  readonly platform: Platform
  readonly store: CredentialStore
  readonly log: UpdateLog
  readonly identities: Identities
  readonly budget: StartBudget
  readonly clock: Clock
  readonly logger: Logger
  readonly timing: Timing
}

interface Reported {
  readonly event: EventsReported
  readonly settings: ReceiveSettings
}

export function activateCredential(
  facts: CredentialFacts,
  resume: Resume,
  world: CredentialWorld,
): CredentialActor {
  const { store, log, clock, timing, budget, platform } = world
  const { credentialId, epoch } = facts
  const batches: Batches = new Map()
  const services = new Services()
  let session: Session | undefined
  let storing = Promise.resolve()
  let releaseTurn = () => {}
  /** How the newest session is to end. */
  let ending = { signOut: false }

  const onDefect = (cause: unknown) =>
    world.logger.error({ credentialId, err: cause }, 'an effect of a credential failed')

  const probe = async (signal: AbortSignal) => {
    if (!session) throw failed('unavailable', 'the credential is reconnecting')
    return session.probe(signal)
  }

  const logic = credentialMachine.provide({
    delays: {
      probeEvery: () => jittered(timing.probeEvery),
      probeAgain: () => jittered(timing.probeAgain),
      backoff: ({ context }) =>
        Math.max(context.retryAfterMs, jittered(Math.min(60_000, 500 * 2 ** context.losses))),
      // What is left of it: a lost session or a wait for its turn may have come in between.
      limitEnds: ({ context }) => Math.max(0, (context.limit?.until ?? 0) - clock.now()),
    },
    actors: {
      turn: services.create((sendBack) => {
        let isGranted = false
        releaseTurn()
        releaseTurn = budget.request(() => {
          isGranted = true
          sendBack({ type: 'turn.granted' })
        })
        return () => {
          if (!isGranted) releaseTurn()
        }
      }),
      session: services.create((sendBack) => {
        const closing = new AbortController()
        const own = { signOut: false }
        ending = own
        // A session may report before `open` has returned it.
        const send = (event: CredentialEvent) => queueMicrotask(() => sendBack(event))
        const report = reportTo(
          { credentialId, store, batches, now: () => clock.now(), send, onDefect },
          closing.signal,
        )
        const lose = (cause: unknown) => {
          onDefect(cause)
          report.lost('storage')
        }
        store
          .account(credentialId)
          .then((account) => {
            if (!closing.signal.aborted) session = platform.open(account, report, closing.signal)
          })
          .catch(lose)
        return () => {
          closing.abort()
          rejectAll(batches)
          const leaving = session
          session = undefined
          // A moment later, when the transition has said whether the account was linked anew.
          Promise.resolve()
            .then(() => leaving?.close(own))
            .catch(onDefect)
          releaseTurn()
        }
      }),
      probe: services.create((sendBack) => {
        const leaving = new AbortController()
        const answer = (event: CredentialEvent, healthy: boolean, latencyMs?: number) => {
          if (leaving.signal.aborted) return
          sendBack(event)
          store.noteHealth(credentialId, {
            healthy,
            at: clock.now(),
            ...(latencyMs !== undefined && { latencyMs }),
          })
        }
        within(timing.probeTakes, leaving.signal, probe)
          .then(
            (latencyMs) => answer({ type: 'probe.passed', latencyMs }, true, latencyMs),
            (cause: Error) => answer({ type: 'probe.failed', reason: cause.message }, false),
          )
          .catch(onDefect)
        return () => leaving.abort()
      }),
      signOut: services.create((sendBack) => {
        const leaving = session
        session = undefined
        within(timing.signOutTakes, undefined, async () => leaving?.close({ signOut: true }))
          .catch(onDefect)
          .finally(() => sendBack({ type: 'signout.finished' }))
        return () => {}
      }),
      deactivation: services.create((sendBack) => {
        store.deactivate(credentialId).then(
          () => sendBack({ type: 'deactivation.finished' }),
          (cause) => {
            onDefect(cause)
            sendBack({ type: 'deactivation.failed' })
          },
        )
        return () => {}
      }),
    },
    actions: {
      releaseTurn: () => releaseTurn(),
      forgetSession: () => {
        ending.signOut = true
      },
      perform: async ({ self, context }, request) => {
        const { requestId } = request
        const effect = () => perform({ ...world, facts, session, context, onDefect }, request)
        const outcome = await settle(effect, onDefect)
        self.send({ type: 'request.settled', reply: { type: 'reply', requestId, outcome } })
      },
      check: async ({ self }, { requestId }) => {
        const effect = () => within(timing.probeTakes, undefined, probe)
        const outcome = await settle(effect, onDefect)
        self.send({ type: 'request.settled', reply: { type: 'reply', requestId, outcome } })
      },
      store: (_, reported) => {
        // One after another: what follows a batch that failed must not move the checkpoint past it.
        storing = storing.then(() => keep(reported))
      },
    },
  })

  const timeline = new Timeline(facts, store, clock)
  const actor = createActor(logic, {
    clock,
    inspect(inspection) {
      // An inspector that throws would leave the actor standing still.
      try {
        timeline.observe(inspection)
      } catch (cause) {
        onDefect(cause)
      }
    },
    input: {
      credentialId,
      settings: facts.settings,
      resume,
      ...(facts.reason !== undefined && resume !== 'queued' && { reason: facts.reason }),
      ...(limitLeft(facts, clock.now()) ?? {}),
    },
  })
  async function keep({ event, settings }: Reported): Promise<void> {
    const batch = batches.get(event.batch)
    if (!batch) return
    batches.delete(event.batch)
    const reporter = session
    const happenings = event.happenings.filter((happening) => admits(settings, happening))
    try {
      const { checkpoint } = batch
      const appended = await log.append({ credentialId, epoch, happenings, checkpoint })
      if (!appended.stored) {
        batch.reject(failed('unavailable', 'another node owns the credential'))
        world.logger.warn({ credentialId, epoch }, 'another node took the credential over')
        actor.stop()
        return
      }
      batch.resolve()
      store.noteHealth(credentialId, { healthy: true, at: clock.now() })
    } catch (cause) {
      onDefect(cause)
      batch.reject(cause)
      if (session === reporter) actor.send({ type: 'session.lost', reason: 'storage' })
    }
  }

  const activation: CredentialActor = new Activation(actor, () => clock.now())
  activation.closed.then(() => {
    services.endAll()
    releaseTurn()
  })
  return activation
}

function limitLeft({ limitedUntil, reason }: CredentialFacts, now: number) {
  if (limitedUntil === undefined || limitedUntil <= now) return undefined
  const forMs = limitedUntil - now
  return { limit: { reason: reason ?? 'flood_wait', forMs, until: limitedUntil } }
}
