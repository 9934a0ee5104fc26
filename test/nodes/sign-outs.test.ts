/** What a new link or a deletion leaves signed in is signed out once nobody uses it: by another node, later, or never, which is told. */
import t, { type Test } from 'tap'
import { Lease } from '../../actors/node/lease.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import { HealthBuffer } from '../../src/credentials/health.ts'
import { nativeIndex } from '../../src/credentials/identity.ts'
import { PostgresCredentialStore } from '../../src/credentials/store.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import { finishLink } from '../../src/links/finish.ts'
import { steadyClock } from '../../src/nodes/nodes.ts'
import { SignOuts } from '../../src/nodes/sign-outs.ts'
import { until } from '../support/client.ts'
import { only } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

const account = { native: 'n', firstName: 'Ada' }
const [HERE, ELSEWHERE] = [1, 2]

/** An account whose session is the text `first`, on a network that ends sessions as the test says. */
async function scene(t: Test) {
  const { db, credential } = await stage(t)
  const vault = await testVault(t, db)
  const credentialId = await credential()
  await db.query(
    `insert into node (id, name, version, schema, state) values ($1, 'here', 'test', 'test', 'up'), ($2, 'elsewhere', 'test', 'test', 'up')`,
    [HERE, ELSEWHERE],
  )
  const native = nativeIndex(vault, account.native)
  await db.query(`update credential set native_id = $2, secrets = 'none' where id = $1`, [
    credentialId,
    native,
  ])
  const store = new PostgresCredentialStore({
    db,
    vault,
    node: { name: 'here', incarnation: () => HERE },
    timeline: new TimelineBuffer(db, 'here', quietLogger),
    health: new HealthBuffer(db, quietLogger),
    keysRevoked: async () => undefined,
  })
  const owned = { credentialId, epoch: 0 }
  await store.saveSecrets(owned, 0, 'first')
  const ended: unknown[] = []
  const erasures: number[] = []
  const network = { isAway: false, uses: false, answers: async (_secrets: unknown) => {} }
  const platform = only<Platform>(t, 'Platform', {
    async signOut(secrets) {
      if (network.isAway) throw new Error('the network is away')
      await network.answers(secrets)
      ended.push(secrets)
    },
  })
  const lease = new Lease(steadyClock)
  t.teardown(() => lease.stop())
  const signOuts = new SignOuts({
    db,
    vault,
    platforms: new Map([['test', platform]]),
    lease,
    node: 'here',
    incarnation: () => HERE,
    uses: () => network.uses,
    erased: async (userId) => void erasures.push(userId),
    logger: quietLogger,
  })
  let links = 0
  return {
    db,
    vault,
    store,
    owned,
    ended,
    erasures,
    network,
    /** Linked again while that node owns it. */
    async link(
      secrets: string,
      owner: number | null = HERE,
      relinks?: number,
      who = account,
      through = db,
    ) {
      const sessionId = `link ${++links}`
      await db.query(`update credential_log set owner = $2 where credential_id = $1`, [
        credentialId,
        owner,
      ])
      await db.query(
        `insert into link_session (id, user_id, platform, method, state, attempts_left, expires_at, relinks)
         select $2, user_id, platform, 'phone', 'waiting', 5, now(), $3 from credential where id = $1`,
        [credentialId, sessionId, relinks ?? null],
      )
      const ending = {
        sessionId,
        node: HERE,
        owner: HERE,
        account: who,
        secrets,
        leavesSession: () => true,
      }
      return finishLink(through, vault, ending, () => owned)
    },
    /** Time has passed since it was left. */
    async look(passed = '1 minute') {
      await db.query(
        'update pending_sign_out set due_at = due_at - $1::interval, created_at = created_at - $1::interval',
        [passed],
      )
      await signOuts.look()
    },
    pending: async () =>
      (
        await db.query<{ link: number; tries: number }>(
          'select link, tries from pending_sign_out order by link',
        )
      ).map(({ link, tries }) => [link, tries]),
    lines: async () =>
      (await db.query<{ event: string }>('select event from credential_transition')).map(
        ({ event }) => event,
      ),
  }
}

t.test('the session of a link before is signed out, and the new one is not', async (t) => {
  const { link, look, ended, pending, store, owned } = await scene(t)
  await link('second')
  await look('0 s')
  t.same(await pending(), [[0, 0]], 'not before its own owner may have done it')
  await look()
  t.same([ended, await pending()], [['first'], []])
  await link('second')
  t.same(await pending(), [], 'the network gave the same session again')
  await link('third')
  await store.signedOut(owned.credentialId, 2)
  t.same(await pending(), [], 'its own session was signed out')
})

t.test('secrets of a link before never replace those of the next one', async (t) => {
  const { link, store, owned } = await scene(t)
  await link('second')
  await store.saveSecrets(owned, 0, 'of the first one')
  t.match(await store.account(owned.credentialId), { link: 1, secrets: 'second' })
  await store.saveSecrets(owned, 1, 'moved on')
  t.match(await store.account(owned.credentialId), { link: 1, secrets: 'moved on' })
})

t.test('nobody signs out what may be in use', async (t) => {
  const { link, look, ended, network, pending, db } = await scene(t)
  network.uses = true
  await link('second')
  await look()
  t.same([ended, await pending()], [[], [[0, 0]]], 'here')
  network.uses = false
  await look()
  t.same(ended, ['first'])
  await link('third', ELSEWHERE)
  await look()
  t.same([ended, await pending()], [['first'], [[1, 0]]], 'at a node that is up')
  await db.query(`update node set state = 'left', ended_at = now() where id = $1`, [ELSEWHERE])
  await look()
  t.same(await pending(), [[1, 0]], 'nor at one that has just ended')
  await db.query(`update node set ended_at = now() - interval '11 seconds' where id = $1`, [
    ELSEWHERE,
  ])
  await look()
  t.same([ended, await pending()], [['first', 'second'], []])
})

t.test(
  'a network that is away is asked again, ever more seldom, and then given up, which is told',
  async (t) => {
    const { link, look, ended, network, pending, lines, db } = await scene(t)
    network.isAway = true
    await link('second')
    await look()
    await look('30 s')
    t.same(await pending(), [[0, 1]])
    await look('31 s')
    await look('61 s')
    t.same(await pending(), [[0, 2]])
    const [row] = await db.query<{ seconds: number }>(
      'select extract(epoch from due_at - now())::float8 as seconds from pending_sign_out',
    )
    t.ok((row?.seconds ?? 0) > 30 && (row?.seconds ?? 0) < 70, `${row?.seconds} of 120 s are left`)
    t.same(await lines(), [])
    await look('7 days')
    t.same([ended, await pending(), await lines()], [[], [], ['signout.failed']])
    t.same(await db.query('select from audit_log'), [], 'where its owner looks')
  },
)

t.test('a deleted account is signed out by what is kept of it', async (t) => {
  const { link, look, ended, network, pending, store, owned, db } = await scene(t)
  network.isAway = true
  await link('second')
  const epoch = { ...owned, epoch: (await store.account(owned.credentialId)).epoch }
  await store.deactivate(epoch, true)
  await store.deactivate(epoch, true)
  t.same(
    await pending(),
    [
      [0, 0],
      [1, 0],
    ],
    'each once',
  )
  t.same(await db.query('select secrets from credential'), [{ secrets: null }])
  await look()
  network.isAway = false
  await look('2 minutes')
  t.same([ended.toSorted(), await pending()], [['first', 'second'], []])
})

t.test(
  'the owner of a deleted account reads in the audit log what is left signed in',
  async (t) => {
    const { look, ended, network, pending, lines, store, owned, db } = await scene(t)
    network.isAway = true
    await store.deactivate(owned, true)
    await look()
    const changes = 'select user_id, action, via, target, target_id, after from audit_log'
    t.same(await db.query(changes), [])
    await look('8 days')
    const [user] = await db.query<{ id: number }>('select id from app_user')
    t.same(await db.query(changes), [
      {
        ...{ user_id: user?.id, action: 'account.session_left', via: 'service', target: 'account' },
        ...{ target_id: `${owned.credentialId}`, after: { platform: 'test' } },
      },
    ])
    t.same([ended, await pending(), await lines()], [[], [], []])
  },
)

t.test('one that was signed out needs nothing to be kept', async (t) => {
  const { pending, store, owned } = await scene(t)
  await store.deactivate(owned, false)
  t.same(await pending(), [])
})

t.test('an account that was signed in for another one is signed out', async (t) => {
  const { link, look, ended, owned } = await scene(t)
  const another = { native: 'another', firstName: 'Eve' }
  const refusal = await link('of another', HERE, owned.credentialId, another).catch(
    (cause) => cause,
  )
  t.match(refusal, { reason: 'other_account' })
  await look()
  t.same(ended, ['of another'])
})

t.test('an account that is deleted while it is linked again is signed out', async (t) => {
  const { link, look, ended, pending, db } = await scene(t)
  const deletedMeanwhile: typeof db = {
    ...db,
    async transaction(work) {
      await db.query('update credential set deleting_at = now()')
      return db.transaction(work)
    },
  }
  const refusal = await link('too late', HERE, undefined, account, deletedMeanwhile).catch(
    (cause) => cause,
  )
  t.match(refusal, { reason: 'credential_deleted' })
  t.same(await pending(), [[-1, 0]])
  await look()
  t.same([ended, await pending()], [['too late'], []])
})

t.test('a link that is finished again after its account was deleted is signed out', async (t) => {
  const { link, look, ended, db, vault, pending } = await scene(t)
  await link('second')
  await db.query('update credential set deleting_at = now()')
  const ending = { sessionId: 'link 1', node: HERE, owner: HERE, account, secrets: 'second' }
  const again = finishLink(db, vault, { ...ending, leavesSession: () => true })
  t.match(await again.catch((cause) => cause), { reason: 'credential_deleted' })
  t.same(await pending(), [
    [-1, 0],
    [0, 0],
  ])
  await look()
  t.same(ended.toSorted(), ['first', 'second'])
})

t.test('whom a network keeps waiting keeps nobody else waiting', async (t) => {
  const { link, look, ended, network, pending } = await scene(t)
  const held = Promise.withResolvers<void>()
  for (let session = 1; session <= 12; session++) await link(`session ${session}`)
  let waiting = 0
  let most = 0
  network.answers = async (secrets) => {
    most = Math.max(most, ++waiting)
    if (secrets === 'first') await held.promise
    else await new Promise(setImmediate)
    waiting--
  }
  const looking = look()
  await until(() => ended.length === 11)
  t.notOk(ended.includes('first'))
  t.ok(most > 1 && most <= 10, `${most} at once`)
  held.resolve()
  await looking
  t.same([ended.length, await pending()], [12, []])
})

t.test('a network with many sessions that are left goes no further than the others', async (t) => {
  const { link, look, ended, db } = await scene(t)
  await link('second')
  await db.query(
    `insert into pending_sign_out (id, user_id, credential_id, platform, link, secrets, due_at)
     select gen_random_uuid(), c.user_id, c.id, 'another', -n, '\\x00', now() - interval '1 hour'
       from credential c, generate_series(1, 150) n`,
  )
  await look()
  t.same(ended, ['first'], 'of the hundred of one look')
})

t.test('the erasure of a user goes on once their last sessions are signed out', async (t) => {
  const { link, look, ended, erasures, network, db } = await scene(t)
  await link('second')
  await look()
  t.same([ended, erasures], [['first'], []], 'nobody is erased')
  await link('third')
  await db.query('update app_user set erasing_at = now()')
  network.isAway = true
  await look()
  t.same(erasures, [])
  network.isAway = false
  await look('2 minutes')
  const [user] = await db.query<{ id: number }>('select id from app_user')
  t.same([ended, erasures], [['first', 'second'], [user?.id]], 'theirs alone')
})
