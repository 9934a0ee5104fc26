/** Diagnoses of users' keys: stored, found again by their ids, one actor each, with all that their steps look at. */

import { randomBytes } from 'node:crypto'
import {
  activateDiagnosis,
  type DiagnosisActor,
  type DiagnosisFacts,
  type DiagnosisWorld,
} from '../../actors/diagnosis/actor.ts'
import { ActorRegistry } from '../../actors/host/actor.ts'
import { Supervision } from '../../actors/host/host.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { failed, readBack } from '../../machines/model/failure.ts'
import { useQuota, type WindowLimit } from '../accounts/limits.ts'
import type { Suspensions } from '../accounts/suspensions.ts'
import type { Core } from '../composition/core.ts'
import type { Config } from '../config/config.ts'
import { findCredential, type RecordSource } from '../credentials/records.ts'
import type { Database } from '../database/database.ts'
import { Diagnosis, databaseNow } from '../database/entities.ts'
import type { KeyService } from '../keys/service.ts'
import type { RequestJournal } from '../observability/request-journal.ts'
import { examiner } from './examine.ts'
import { receivingFacts, recentlyPaced, recentRefusals } from './receiving.ts'
import type { ExaminerWorld } from './world.ts'

/** Each keeps a row for a week. */
const started: WindowLimit = { count: 1_000, seconds: 86_400 }

interface StoredDiagnosis extends DiagnosisFacts {
  readonly startedAt: Date
}

/** Texts of users and networks may hold half a character, which Postgres refuses. */
const wellFormed = (_: string, value: unknown) =>
  typeof value === 'string' ? value.toWellFormed() : value

/** Diagnoses in Postgres. */
class DiagnosisStore {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** Each new diagnosis deletes old ones, which are not read any more. Rejects with `rate_limited` after too many in a day. */
  async create(facts: DiagnosisFacts): Promise<void> {
    const { diagnosisId: id, userId, apiKeyId, credentialId, sendTo = null, opens = null } = facts
    await useQuota(this.#db, `diagnosis:user:${userId}`, started, new Date())
    await this.#db.records(async (em) => {
      await em.nativeDelete(Diagnosis, { createdAt: { $lt: databaseNow('7 days') } })
      await em.insert(Diagnosis, { id, userId, apiKeyId, credentialId, sendTo, opens })
    })
  }

  async load(diagnosisId: string): Promise<StoredDiagnosis | undefined> {
    const found = await this.#db.records((em) => em.findOne(Diagnosis, { id: diagnosisId }))
    if (!found) return undefined
    const { userId, apiKeyId, credentialId, sendTo, opens, findings, createdAt } = found
    return {
      diagnosisId,
      userId,
      apiKeyId,
      credentialId,
      sendTo: sendTo ?? undefined,
      opens: opens ?? undefined,
      findings,
      startedAt: createdAt,
    }
  }

  async saveFindings(diagnosisId: string, findings: readonly Finding[]): Promise<void> {
    const stored: readonly Finding[] = JSON.parse(JSON.stringify(findings, wellFormed))
    await this.#db.records((em) =>
      em.nativeUpdate(Diagnosis, { id: diagnosisId }, { findings: stored }),
    )
  }
}

interface DiagnosesOptions extends Pick<ExaminerWorld, 'profile'> {
  readonly core: Pick<Core, 'clock' | 'supervisor' | 'store' | 'webhooks' | 'keys'>
  readonly db: Database
  readonly logger: Logger
  readonly config: Pick<Config, 'timing' | 'retention'>
  readonly keyService: KeyService
  readonly suspensions: Pick<Suspensions, 'whyOf'>
  readonly source: RecordSource
  readonly journal: Pick<RequestJournal, 'flush'>
}

const DAY_MS = 86_400_000
/** A bot that polls asks again within a moment. */
const POLLED_MS = 10_000

/** Diagnoses with everything their steps look at. */
export function createDiagnoses(options: DiagnosesOptions): Diagnoses {
  const { db, logger, keyService, source, journal, profile } = options
  const { clock, supervisor, store, webhooks, keys } = options.core
  const { timing, retention } = options.config
  const examine = examiner({
    now: () => clock.now(),
    slowAfterMs: timing.probeTakes / 4,
    updatesLastMs: retention.updateDays * DAY_MS,
    key: (userId, apiKeyId) => keyService.find(userId, apiKeyId),
    suspendedWhy: (userId) => options.suspensions.whyOf(userId),
    credential: (userId, credentialId) => findCredential(source, userId, credentialId),
    actor: (credentialId) => supervisor.find(credentialId),
    profile,
    irregularities: store.irregularities,
    receiving: async (key) => {
      await webhooks.flush()
      return receivingFacts(db, key, clock.now())
    },
    isPolled: (apiKeyId, withinMs = POLLED_MS) => {
      const { waiting, lastPoll } = keys.peek(apiKeyId)?.snapshot.context ?? {}
      return waiting !== undefined || clock.now() - (lastPoll?.at ?? 0) < withinMs
    },
    lastPoll: (apiKeyId) => keys.peek(apiKeyId)?.snapshot.context.lastPoll,
    paced: async (apiKeyId) => {
      await journal.flush()
      return recentlyPaced(db, apiKeyId, clock.now())
    },
    refusals: async (apiKeyId) => {
      await journal.flush()
      return recentRefusals(db, apiKeyId, clock.now())
    },
  })
  const stepTakes = timing.probeTakes + timing.performTakes
  return new Diagnoses(new DiagnosisStore(db), { clock, logger, stepTakes, examine })
}

const IDLE_MS = 600_000

export interface RunningDiagnosis {
  readonly stored: StoredDiagnosis
  readonly actor: DiagnosisActor
}

interface DiagnosisRequest {
  readonly userId: number
  readonly apiKeyId: number
  readonly credentialId: number
  readonly sendTo: string | undefined
  readonly opens: boolean | undefined
}

export class Diagnoses {
  readonly #store: DiagnosisStore
  readonly #actors: ActorRegistry<string, DiagnosisActor>
  readonly #stored = new WeakMap<DiagnosisActor, StoredDiagnosis>()

  constructor(store: DiagnosisStore, world: Omit<DiagnosisWorld, 'saveFindings'>) {
    this.#store = store
    this.#actors = new ActorRegistry(
      (diagnosisId) => this.#begin(diagnosisId, world),
      new Supervision({ kind: 'diagnosis', ...world }),
    )
  }

  async start(request: DiagnosisRequest): Promise<RunningDiagnosis> {
    this.#actors.passivate(IDLE_MS)
    const diagnosisId = randomBytes(16).toString('base64url')
    await this.#store.create({ diagnosisId, findings: [], ...request })
    return readBack(this.find(diagnosisId, request.userId, request.apiKeyId))
  }

  /** Rejects with `not_found`, also for what another user or another key has. */
  async find(diagnosisId: string, userId: number, apiKeyId: number): Promise<RunningDiagnosis> {
    await this.#endStale(diagnosisId)
    const actor = await this.#actors.find(diagnosisId)
    const stored = this.#stored.get(actor)
    if (stored?.userId !== userId || stored.apiKeyId !== apiKeyId) throw failed('not_found')
    return { stored, actor }
  }

  stop(): Promise<void> {
    return this.#actors.stop()
  }

  /** Another node has taken steps meanwhile: the next actor goes on behind them. */
  async #endStale(diagnosisId: string): Promise<void> {
    const actor = this.#actors.peek(diagnosisId)
    const stored = actor && (await this.#store.load(diagnosisId))
    if (!stored || !actor.isIdle(0)) return
    if (stored.findings.length <= actor.snapshot.context.findings.length) return
    actor.stop()
    // Until then it is found.
    await actor.closed
  }

  async #begin(
    diagnosisId: string,
    world: Omit<DiagnosisWorld, 'saveFindings'>,
  ): Promise<DiagnosisActor> {
    const stored = await this.#store.load(diagnosisId)
    if (!stored) throw failed('not_found')
    const actor = activateDiagnosis(stored, {
      ...world,
      saveFindings: (id, findings) => this.#store.saveFindings(id, findings),
    })
    this.#stored.set(actor, stored)
    return actor
  }
}
