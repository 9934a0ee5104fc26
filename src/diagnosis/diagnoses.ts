/** Diagnoses of users' keys: begun, found again by their ids, one actor each. */
import { randomBytes } from 'node:crypto'
import {
  activateDiagnosis,
  type DiagnosisActor,
  type DiagnosisWorld,
} from '../../actors/diagnosis/actor.ts'
import { ActorRegistry } from '../../actors/host/registry.ts'
import { Supervision } from '../../actors/host/supervision.ts'
import { failed } from '../../machines/model/failure.ts'
import type { DiagnosisStore, StoredDiagnosis } from './store.ts'

const IDLE_MS = 600_000

export interface Diagnosis {
  readonly stored: StoredDiagnosis
  readonly actor: DiagnosisActor
}

export interface DiagnosisRequest {
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

  async start(request: DiagnosisRequest): Promise<Diagnosis> {
    this.#actors.passivate(IDLE_MS)
    const diagnosisId = randomBytes(16).toString('base64url')
    await this.#store.create({ diagnosisId, findings: [], ...request })
    return this.find(diagnosisId, request.userId, request.apiKeyId)
  }

  /** Rejects with `not_found`, also for what another user or another key has. */
  async find(diagnosisId: string, userId: number, apiKeyId: number): Promise<Diagnosis> {
    const actor = await this.#actors.find(diagnosisId)
    const stored = this.#stored.get(actor)
    if (stored?.userId !== userId || stored.apiKeyId !== apiKeyId) throw failed('not_found')
    return { stored, actor }
  }

  stop(): Promise<void> {
    return this.#actors.stop()
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
