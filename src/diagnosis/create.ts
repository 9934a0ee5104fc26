/** Diagnoses with everything their steps look at. */
import type { Logger } from '../../actors/ports/ports.ts'
import type { Core } from '../composition/core.ts'
import type { Config } from '../config/config.ts'
import { findCredential, type RecordSource } from '../credentials/records.ts'
import type { Database } from '../database/database.ts'
import type { KeyService } from '../keys/service.ts'
import type { RequestJournal } from '../observability/request-journal.ts'
import { Diagnoses } from './diagnoses.ts'
import { examiner } from './examine.ts'
import { receivingFacts, recentRefusals } from './receiving.ts'
import { DiagnosisStore } from './store.ts'
import type { ExaminerWorld } from './world.ts'

export interface DiagnosesOptions extends Pick<ExaminerWorld, 'profile'> {
  readonly core: Pick<Core, 'clock' | 'supervisor' | 'store' | 'webhooks' | 'keys'>
  readonly db: Database
  readonly logger: Logger
  readonly config: Pick<Config, 'timing'>
  readonly keyService: KeyService
  readonly source: RecordSource
  readonly journal: Pick<RequestJournal, 'flush'>
}

/** A bot that polls asks again within a moment. */
const POLLED_MS = 10_000

export function createDiagnoses(options: DiagnosesOptions): Diagnoses {
  const { db, logger, keyService, source, journal, profile } = options
  const { clock, supervisor, store, webhooks, keys } = options.core
  const { timing } = options.config
  const examine = examiner({
    now: () => clock.now(),
    slowAfterMs: timing.probeTakes / 4,
    key: (userId, apiKeyId) => keyService.find(userId, apiKeyId),
    credential: (userId, credentialId) => findCredential(source, userId, credentialId),
    actor: (credentialId) => supervisor.find(credentialId),
    profile,
    irregularities: store.irregularities,
    receiving: async (key) => {
      await webhooks.flush()
      return receivingFacts(db, key)
    },
    isPolled: (apiKeyId) => {
      const { waiting, lastPoll } = keys.peek(apiKeyId)?.snapshot.context ?? {}
      return waiting !== undefined || clock.now() - (lastPoll?.at ?? 0) < POLLED_MS
    },
    refusals: async (apiKeyId) => {
      await journal.flush()
      return recentRefusals(db, apiKeyId)
    },
  })
  const stepTakes = timing.probeTakes + timing.performTakes
  return new Diagnoses(new DiagnosisStore(db), { clock, logger, stepTakes, examine })
}
