/** Diagnoses in Postgres. */
import type { DiagnosisFacts } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import type { Database } from '../database/database.ts'
import { databaseNow } from '../database/entities/columns.ts'
import { Diagnosis } from '../database/entities/diagnoses.ts'

export interface StoredDiagnosis extends DiagnosisFacts {
  readonly startedAt: Date
}

/** What a user or a network wrote may hold half a character, which Postgres refuses. */
const wellFormed = (_: string, value: unknown) =>
  typeof value === 'string' ? value.toWellFormed() : value

export class DiagnosisStore {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** Old ones go with every new one: nobody comes back to them. */
  async create(facts: DiagnosisFacts): Promise<void> {
    const { diagnosisId: id, userId, apiKeyId, credentialId, sendTo = null, opens = null } = facts
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
