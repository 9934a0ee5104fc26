/** Starts every linked credential of this node when the service starts. */
import type { CredentialSupervisor } from '../../actors/credential/supervisor.ts'
import type { PostgresUpdateLog } from '../updates/log.ts'
import type { PostgresCredentialStore } from './store.ts'

const PAGE = 500

/** Claims page by page; the start budget limits how many connect at once. Resolves with their number. */
export async function startAll(
  store: PostgresCredentialStore,
  updates: PostgresUpdateLog,
  supervisor: CredentialSupervisor,
): Promise<number> {
  let started = 0
  let after = 0
  for (;;) {
    const page = await store.claimPage(after, PAGE)
    for (const facts of page) {
      updates.opened(facts.credentialId, facts.epoch, facts.next)
      supervisor.adopt(facts)
    }
    started += page.length
    after = page.at(-1)?.credentialId ?? after
    if (page.length < PAGE) return started
  }
}
