/** The end of a share at one node, as another one hears of it. */
import t from 'tap'
import { HeldShares } from '../../src/credentials/held-shares.ts'
import type { Queryable } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'

t.test(
  'a hint alone ends what a share has allowed at another node, and nothing else',
  async (t) => {
    const { database: db } = await testDatabase(t)
    const [row] = await db.query<{ credential: number; user: number }>(
      `with users as (
       insert into app_user (phone_index, phone_sealed) values ('\\x01', ''), ('\\x02', '') returning id),
     account as (
       insert into credential (user_id, platform, native_id, account)
       select min(id), 'fake', 'a', '{}' from users returning id, user_id),
     shared as (
       insert into account_share (credential_id, owner_id, user_id, phone_index, phone_sealed, role, accepted_at)
       select a.id, a.user_id, (select max(id) from users), '\\x02', '', 'viewer', now() from account a)
     select a.id as credential, (select max(id) from users) as "user" from account a`,
    )
    const { credential, user } = row!
    const hints: ((credentialId: number) => void)[] = []
    const bus = {
      tell: (_: string, credentialId: number) => {
        for (const hint of hints) hint(credentialId)
      },
      on: (topic: string, hint: (credentialId: number) => void) =>
        topic === 'shares' && hints.push(hint),
      onGap() {},
    } as unknown as ConstructorParameters<typeof HeldShares>[0]['bus']
    const vault = { open: () => Promise.reject(new Error('nothing is opened')) }
    const reads: Promise<unknown>[] = []
    const recorded: Queryable = {
      query(...asked) {
        const rows = db.query<never>(...asked)
        reads.push(rows)
        return rows
      },
    }
    const one = new HeldShares({ db, vault, bus })
    const two = new HeldShares({ db: recorded, vault, bus })
    const share = await two.heldBy(user, 'account', credential)
    t.match(share, { credentialId: credential, role: 'viewer' })
    let isOver = false
    const stop = two.watch(user, share!, () => {
      isOver = true
    })
    await db.query("update account_share set role = 'developer'")
    one.changed(credential)
    t.equal(await two.holds(user, share!), true)
    // What looks late would find the share that is deleted next.
    await Promise.all(reads)
    t.equal(isOver, false, 'another role ends nothing that only reads')
    await db.query('delete from account_share')
    one.changed(credential + 1)
    t.equal(await two.holds(user, share!), false)
    t.equal(isOver, false, 'that was of another account')
    one.changed(credential)
    await until(() => isOver, 5_000)
    stop()
  },
)
