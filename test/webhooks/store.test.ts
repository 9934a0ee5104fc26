/** Webhooks as they are stored. */
import t, { type Test } from 'tap'
import type { Runs } from '../../machines/webhook/progress.ts'
import { resolveAnything } from '../../src/net/resolver.ts'
import { WebhookStore } from '../../src/webhooks/store.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

const target = {
  url: 'http://127.0.0.1:9/hook',
  secretToken: undefined,
  certificate: undefined,
  ipAddress: undefined,
  maxConnections: 40,
}

/** Where the keys of the stage have read to. */
const HEAD = 5_000_000

async function storeOfKey(t: Test) {
  const { db, credential, key } = await stage(t)
  const credentialId = await credential()
  const owned = { apiKeyId: await key(credentialId), credentialId, epoch: 0 }
  const store = new WebhookStore({
    db,
    vault: await testVault(t, db),
    reach: { allowPrivate: true, resolve: resolveAnything },
    flush: async () => undefined,
  })
  return { db, owned, store }
}

t.test('the times of a webhook are those of the node that delivers to it', async (t) => {
  const { db, owned, store } = await storeOfKey(t)
  // The clock of the database is an hour ahead of it.
  const now = Date.now() - 3_600_000
  t.intercept(Date, 'now', { value: () => now })
  await store.change(owned, { kind: 'set', target, dropTo: undefined }, 0)
  const stored = () => db.query<Record<string, Date>>('select set_at, last_error_at from webhook')
  t.same(await stored(), [{ set_at: new Date(now), last_error_at: null }])
  await store.change(owned, { kind: 'delete', dropTo: undefined, isGone: true }, 0)
  t.match(await stored(), [{ last_error_at: new Date(now) }])
})

t.test('what is sent again waits beside what waits already', async (t) => {
  const { owned, store } = await storeOfKey(t)
  await store.change(owned, { kind: 'set', target, dropTo: undefined }, HEAD)
  const resend = (runs: Runs, updates: number) =>
    store.change(owned, { kind: 'resend', runs, updates }, HEAD)
  const first = await resend([[101, 105]], 5)
  t.match(first, {
    cursor: 100,
    webhook: { progress: { head: HEAD, waiting: 5, open: [101, 105] } },
  })
  const second = await resend([[107, 108]], 2)
  const open = [101, 105, 107, 108]
  t.match(second, { cursor: 100, webhook: { progress: { head: HEAD, waiting: 7, open } } })
  const ended = await store.change(owned, { kind: 'stop resend', waiting: 0 }, HEAD)
  t.match(ended, { cursor: HEAD, webhook: { progress: undefined } })
})
