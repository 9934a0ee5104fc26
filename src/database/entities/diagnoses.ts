/** Entity of diagnoses. */
import { defineEntity, p } from '@mikro-orm/core'
import type { Finding } from '../../../machines/diagnosis/events.ts'

export const Diagnosis = defineEntity({
  name: 'Diagnosis',
  tableName: 'diagnosis',
  properties: {
    id: p.text().primary(),
    userId: p.bigint('number'),
    apiKeyId: p.bigint('number'),
    credentialId: p.bigint('number'),
    sendTo: p.text().nullable(),
    opens: p.boolean().nullable(),
    findings: p.json().$type<readonly Finding[]>().defaultRaw(`'[]'`),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})
