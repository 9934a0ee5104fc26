/** What an owner writes after another node has claimed the credential: it is refused, and told so, in every table. */
import t, { type Test } from 'tap'
import type { Owned, Transition } from '../../actors/ports/ports.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import { HealthBuffer } from '../../src/credentials/health.ts'
import { nativeIndex } from '../../src/credentials/identity.ts'
import { PostgresCredentialStore } from '../../src/credentials/store.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import type { Database } from '../../src/database/database.ts'
import { PostgresKeyStore } from '../../src/keys/store.ts'
import { finishLink } from '../../src/links/finish.ts'
import { resolveAnything } from '../../src/net/resolver.ts'
import { ProgressStore } from '../../src/webhooks/progress-store.ts'
import { WebhookStates } from '../../src/webhooks/states.ts'
import { WebhookStore } from '../../src/webhooks/store.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

const line = (owned: Owned, to: string): Transition => ({
  ...owned,
  at: 1_700_000_000_000,
  from: 'live.online',
  to,
  event: 'session.replaced',
  reason: 'replaced_elsewhere',
  durationMs: 5,
  publicState: 'failed',
  action: 'restart',
  limitedUntil: undefined,
})

const target = {
  url: 'http://127.0.0.1/',
  ipAddress: undefined,
  maxConnections: 1,
  secretToken: undefined,
  certificate: undefined,
}

/** Everything that writes for a credential, of one node; `lost` is what it was told that it no longer owns. */
async function writers(t: Test, db: Database) {
  const lost: Owned[] = []
  const fenced = (owned: readonly Owned[]) => {
    for (const { credentialId, epoch } of owned) lost.push({ credentialId, epoch })
  }
  const vault = await testVault(t, db)
  const timeline = new TimelineBuffer(db, 'here', quietLogger, fenced)
  const health = new HealthBuffer(db, quietLogger, fenced)
  const keys = new PostgresKeyStore(db, quietLogger, undefined, fenced)
  const reach = { allowPrivate: true, resolve: resolveAnything }
  return {
    lost,
    vault,
    timeline,
    health,
    keys,
    states: new WebhookStates(db, quietLogger, fenced),
    progress: new ProgressStore(db, fenced),
    webhooks: new WebhookStore({ db, vault, reach, flush: () => keys.flush() }),
    store: new PostgresCredentialStore({
      db,
      vault,
      node: { name: 'here', incarnation: () => 1 },
      timeline,
      health,
      keysRevoked: async () => undefined,
    }),
  }
}

async function scene(t: Test) {
  const { db, credential, key, ...rest } = await stage(t)
  const credentialId = await credential()
  const apiKeyId = await key(credentialId)
  await db.query(`update credential set secrets = 'linked' where id = $1`, [credentialId])
  const node = await writers(t, db)
  const before = { credentialId, epoch: (await node.store.claim(credentialId))?.epoch ?? 0 }
  const webhookKey = { ...before, apiKeyId }
  await node.webhooks.change(webhookKey, { kind: 'set', target, dropTo: undefined }, 0)
  const row = async () => {
    const [found] = await db.query<Record<string, unknown>>(
      `select c.machine_state, c.state, c.reason, c.healthy, c.account, c.deleting_at,
              c.secrets is null as wiped, c.deactivated_at, k.filter, k.webhook_progress, k.cursor,
              k.dropped_updates, k.revoked_at, w.failures, w.suspended_at, w.last_success_at, w.sealed
         from credential c join api_key k on k.credential_id = c.id
         join webhook w on w.api_key_id = k.id where c.id = $1`,
      [credentialId],
    )
    return found
  }
  return { ...rest, db, node, before, key: webhookKey, row }
}

const filter = [{ from: 1, kinds: 1 }]
const progress = { cursor: 5_000_007, head: 5_000_009, waiting: 1, open: [5_000_008, 5_000_008] }

t.test('an owner that was fenced changes nothing but history', async (t) => {
  const { db, node, before, key, row } = await scene(t)
  const owner = await node.store.claim(before.credentialId)
  const untouched = await row()

  node.timeline.add(line(before, 'replaced'))
  await node.timeline.flush()
  node.health.add(before, { healthy: false, at: 1 })
  await node.health.flush()
  node.keys.saveCursor(key, { cursor: 5_000_003, changedFilter: filter })
  await node.keys.flush()
  node.states.save(key, { trouble: undefined, suspended: true })
  node.states.ended(key, attempt)
  await node.states.flush()
  await node.progress.save(key, () => progress, false)
  t.same(node.lost, Array(5).fill(before), 'each of the buffers learns of it')

  const refused: (() => Promise<unknown>)[] = [
    () => node.store.saveSecrets(before, 0, 'stale'),
    () => node.store.saveDeletion(before),
    () => node.store.deactivate(before, false),
    () => node.webhooks.change(key, { kind: 'delete', dropTo: undefined }, 0),
    () => node.webhooks.change(key, { kind: 'set', target, dropTo: undefined }, 0),
    () => node.webhooks.change(key, { kind: 'replay', after: 0 }, 0),
    () => node.webhooks.change(key, { kind: 'resend', runs: [[1, 9]], updates: 9 }, 9),
    () => node.webhooks.change(key, { kind: 'stop resend', waiting: 0 }, 9),
  ]
  for (const write of refused) {
    const cause: unknown = await write().catch((cause: unknown) => cause)
    t.ok(cause instanceof OwnershipLost, `${write}`)
  }
  await node.store.saveIdentity(before, { native: 'n', firstName: 'Stale' })
  t.same(await row(), { ...untouched, cursor: 5_000_007 }, 'a cursor only grows')
  const lines = await db.query('select to_state from credential_transition')
  t.same(lines, [{ to_state: 'replaced' }], 'the line is kept')

  t.same(await node.store.fenced([before]), [{ ...before, signsOut: false }])
  t.same(await node.store.fenced(owner ? [owner] : []), [])
})

const attempt = {
  at: 1_700_000_000_000,
  durationMs: 1,
  ok: true,
  status: 200,
  error: undefined,
  retryAfterMs: undefined,
  updateId: 1,
  attempt: 1,
  traceId: undefined,
  nextAttemptAt: undefined,
}

t.test('the owner of now writes as ever', async (t) => {
  const { node, before, key, row } = await scene(t)
  node.timeline.add(line(before, 'replaced'))
  await node.timeline.flush()
  node.health.add(before, { healthy: false, at: 1 })
  await node.health.flush()
  node.keys.saveCursor(key, { cursor: 5_000_003, changedFilter: filter })
  node.keys.saveCursor(key, { cursor: 5_000_004 })
  await node.keys.flush()
  node.states.save(key, { trouble: undefined, suspended: true })
  node.states.ended(key, attempt)
  await node.states.flush()
  await node.progress.save(key, () => progress, false)
  await node.store.saveSecrets(before, 0, 'newer')
  await node.store.saveIdentity(before, { native: 'n', firstName: 'Ada' })
  t.match(await node.store.identity(before.credentialId), { firstName: 'Ada' }, 'sealed')
  t.match(await row(), {
    machine_state: 'replaced',
    healthy: false,
    account: null,
    filter,
    cursor: 5_000_007,
    webhook_progress: progress,
    suspended_at: Date,
    last_success_at: Date,
  })
  const { last_success_at } = (await row()) as { last_success_at: Date }
  t.equal(last_success_at.getTime(), attempt.at + attempt.durationMs)
  const anew = await node.webhooks.change(
    key,
    { kind: 'set', target, dropTo: undefined },
    5_000_007,
  )
  t.match(anew.webhook, { ...target, trouble: undefined, suspended: false }, 'set anew it delivers')
  t.match(await row(), { suspended_at: null, failures: 0 })
  await node.store.saveDeletion(before)
  await node.store.deactivate(before, false)
  t.match(await row(), { deleting_at: Date, wiped: true, deactivated_at: Date, revoked_at: Date })
  t.same(node.lost, [])
})

t.test('a write that waits for a claim under way is refused once that is committed', async (t) => {
  const { db, node, before, key, row } = await scene(t)
  const writes = {
    timeline: () => {
      node.timeline.add(line(before, 'replaced'))
      return node.timeline.flush()
    },
    filter: () => {
      node.keys.saveCursor(key, { cursor: 5_000_003, changedFilter: filter })
      return node.keys.flush()
    },
    secrets: () => node.store.saveSecrets(before, 0, 'stale').catch(() => undefined),
    webhook: () =>
      node.webhooks
        .change(key, { kind: 'set', target, dropTo: undefined }, 0)
        .catch(() => undefined),
  }
  const untouched = await row()
  for (const [name, write] of Object.entries(writes)) {
    const { credentialId } = before
    let writing: Promise<unknown> | undefined
    await db.transaction(async (tx) => {
      await tx.query(
        `with moved as (update credential_log set epoch = epoch + 1 where credential_id = $1
           returning epoch)
         update credential c set epoch = moved.epoch from moved where c.id = $1`,
        [credentialId],
      )
      writing = write()
      await until(async () => {
        const [waiting] = await db.query(
          `select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return waiting !== undefined
      })
    })
    await writing
    t.match(await row(), { ...untouched, cursor: Number }, name)
    await db.query('update credential_log set epoch = $2 where credential_id = $1', [
      credentialId,
      before.epoch,
    ])
    await db.query('update credential set epoch = $2 where id = $1', [credentialId, before.epoch])
  }
})

t.test('a former owner learns whether its session is of a link before', async (t) => {
  const { db, node, before } = await scene(t)
  const { credentialId } = before
  const lost = async ({ epoch }: Pick<Owned, 'epoch'>) => {
    const [found] = await node.store.fenced([{ credentialId, epoch }])
    return found && { epoch: found.epoch, signsOut: found.signsOut }
  }
  await db.query(
    `insert into link_session (id, user_id, platform, method, state, attempts_left, expires_at)
     select 'again', user_id, platform, 'phone', 'waiting', 5, now() from credential where id = $1`,
    [credentialId],
  )
  const { vault } = node
  const account = { native: 'n', firstName: 'Ada' }
  await db.query('update credential set native_id = $2 where id = $1', [
    credentialId,
    nativeIndex(vault, account.native),
  ])
  const link = async (held?: Owned) => {
    await db.query(`update link_session set state = 'waiting' where id = 'again'`)
    const ending = { sessionId: 'again', node: 1, owner: 1, account, secrets: 'anew' }
    const linked = await finishLink(db, vault, ending, () => held)
    t.same((await finishLink(db, vault, ending, () => held)).link, linked.link, 'only once')
    return linked
  }

  t.same(await lost(before), undefined, 'it is the owner')
  const second = (await node.store.claim(credentialId)) ?? before
  t.same(await lost(before), { epoch: before.epoch, signsOut: false }, 'the second one took over')

  t.equal((await link(second)).epoch, second.epoch, 'linked again where it is owned')
  t.same(await lost(before), { epoch: before.epoch, signsOut: true })
  t.same(await lost(second), undefined)

  const third = (await node.store.claim(credentialId)) ?? before
  t.same(await lost(second), { epoch: second.epoch, signsOut: false }, 'the third one took over')
  const relinked = await link()
  t.equal(relinked.epoch, third.epoch + 1, 'linked again elsewhere')
  t.same(await lost(second), { epoch: second.epoch, signsOut: true })
  t.same(await lost(third), { epoch: third.epoch, signsOut: true })

  const last = (await node.store.claim(credentialId)) ?? before
  t.same(await lost(third), { epoch: third.epoch, signsOut: true }, 'also after the next takeover')
  t.same(await lost(relinked), { epoch: relinked.epoch, signsOut: false })
  await node.store.saveDeletion(last)
  t.same(await lost(last), undefined, 'its owner deletes it')
  t.same(await lost(relinked), { epoch: relinked.epoch, signsOut: true }, 'deleted elsewhere')
})

t.test('an account whose row is erased is lost, and its session of no use', async (t) => {
  const { node, before } = await scene(t)
  const erased = { credentialId: before.credentialId + 1, epoch: 1 }
  t.same(await node.store.fenced([before, erased]), [{ ...erased, signsOut: true }])
})

t.test('a claim returns the row as the owner before it left it', async (t) => {
  const { db, node, before } = await scene(t)
  const { credentialId } = before
  let claiming: ReturnType<typeof node.store.claim> | undefined
  await db.transaction(async (tx) => {
    await tx.query(`update credential set machine_state = 'signedOut' where id = $1`, [
      credentialId,
    ])
    claiming = node.store.claim(credentialId)
    await until(async () => {
      const [waiting] = await db.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting !== undefined
    })
  })
  t.match(await claiming, { state: 'signedOut', epoch: before.epoch + 1 })
})
