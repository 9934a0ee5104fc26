/** A service with an operator, who reads its audit log. */
import type { Test } from 'tap'
import type { Action } from '../../src/audit/actions.ts'
import { openDatabase } from '../../src/database/database.ts'
import type { AuditRecord } from '../../src/records/audit.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

export async function auditRig(t: Pick<Test, 'teardown'>, phone: string) {
  const env = {
    OPERATOR_PHONES: phone,
    OPERATOR_TOKEN: 'orders-of-a-test',
    ALLOW_PRIVATE_URLS: '1',
  }
  const service = await startService(t, { env })
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const client = await service.client(phone)
  const changes = async (query = '', by = client): Promise<AuditRecord[]> =>
    (await by.result('GET', `/audit?limit=1000${query}`)).items
  const newest = async (action: Action): Promise<AuditRecord> => {
    const [found] = await changes(`&action=${action}`)
    if (!found) throw new Error(`no ${action}`)
    return found
  }
  return { service, db, client, changes, newest }
}
