/** Diagnoses in Postgres. */
import type { DiagnosisFacts } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import type { Database } from '../database/database.ts'

export interface StoredDiagnosis extends DiagnosisFacts {
  readonly startedAt: Date
}

interface Row {
  readonly id: string
  readonly user_id: number
  readonly api_key_id: number
  readonly credential_id: number
  readonly send_to: string | null
  readonly opens: boolean | null
  readonly findings: readonly Finding[]
  readonly created_at: Date
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
    await this.#db.query(`delete from diagnosis where created_at < now() - interval '7 days'`)
    await this.#db.query(
      `insert into diagnosis (id, user_id, api_key_id, credential_id, send_to, opens)
       values ($1, $2, $3, $4, $5, $6)`,
      [
        facts.diagnosisId,
        facts.userId,
        facts.apiKeyId,
        facts.credentialId,
        facts.sendTo ?? null,
        facts.opens ?? null,
      ],
    )
  }

  async load(diagnosisId: string): Promise<StoredDiagnosis | undefined> {
    const [row] = await this.#db.query<Row>(
      `select id, user_id, api_key_id, credential_id, send_to, opens, findings, created_at
         from diagnosis where id = $1`,
      [diagnosisId],
    )
    return (
      row && {
        diagnosisId: row.id,
        userId: row.user_id,
        apiKeyId: row.api_key_id,
        credentialId: row.credential_id,
        sendTo: row.send_to ?? undefined,
        opens: row.opens ?? undefined,
        findings: row.findings,
        startedAt: row.created_at,
      }
    )
  }

  async saveFindings(diagnosisId: string, findings: readonly Finding[]): Promise<void> {
    await this.#db.query('update diagnosis set findings = $2 where id = $1', [
      diagnosisId,
      JSON.stringify(findings, wellFormed),
    ])
  }
}
