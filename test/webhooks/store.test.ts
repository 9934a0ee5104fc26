/** Webhooks as they are stored. */
import t from 'tap'
import { resolveAnything } from '../../src/net/resolver.ts'
import { WebhookStore } from '../../src/webhooks/store.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

t.test('the times of a webhook are those of the node that delivers to it', async (t) => {
  const { db, credential, key } = await stage(t)
  const credentialId = await credential()
  const owned = { apiKeyId: await key(credentialId), credentialId, epoch: 0 }
  const store = new WebhookStore({
    db,
    vault: await testVault(t, db),
    reach: { allowPrivate: true, resolve: resolveAnything },
    flush: async () => undefined,
  })
  const target = {
    url: 'http://127.0.0.1:9/hook',
    secretToken: undefined,
    certificate: undefined,
    ipAddress: undefined,
    maxConnections: 40,
  }
  // The clock of the database is an hour ahead of it.
  const now = Date.now() - 3_600_000
  t.intercept(Date, 'now', { value: () => now })
  await store.change(owned, { kind: 'set', target, dropTo: undefined }, 0)
  const stored = () => db.query<Record<string, Date>>('select set_at, last_error_at from webhook')
  t.same(await stored(), [{ set_at: new Date(now), last_error_at: null }])
  await store.change(owned, { kind: 'delete', dropTo: undefined, isGone: true }, 0)
  t.match(await stored(), [{ last_error_at: new Date(now) }])
})
