/** What is known of an account is sealed at rest, also what an older version has stored, and found all the same. */
import t, { type Test } from 'tap'
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import {
  AccountNames,
  type IdentityRow,
  OpenedIdentities,
  openIdentity,
  sealIdentities,
  sealIdentity,
} from '../../src/credentials/identity.ts'
import { type CredentialQuery, searchCredentials } from '../../src/credentials/list.ts'
import type { RecordSource } from '../../src/credentials/records.ts'
import { migrate } from '../../src/database/migrate.ts'
import { finishLink } from '../../src/links/finish.ts'
import { canariesIn } from '../support/canaries.ts'
import { testDatabase } from '../support/database.ts'
import { testVault } from '../support/vault.ts'

async function rig(t: Test) {
  const { database: db, url } = await testDatabase(t)
  const vault = await testVault(t, db)
  const [user] = await db.query<{ id: number }>(
    `insert into app_user (phone_index, phone_sealed) values ('u', '') returning id`,
  )
  const userId = user!.id
  let native = 0
  /** As versions before stored it. */
  const inTheClear = async (identity: Partial<AccountIdentity>, more = {}) => {
    const account = { native: `old-${++native}@canary.example`, firstName: '', ...identity }
    const [row] = await db.query<{ id: number }>(
      `insert into credential (user_id, platform, native_id, account, deactivated_at, deleting_at)
       values ($1, 'xmpp', $2, $3, $4, $4) returning id`,
      [userId, account.native, account, 'deleted' in more ? new Date() : null],
    )
    return { id: row!.id, account }
  }
  const link = async (account: AccountIdentity) => {
    const sessionId = `session-${++native}`
    await db.query(
      `insert into link_session (id, user_id, platform, method, state, attempts_left, expires_at)
       values ($1, $2, 'xmpp', 'password', 'waiting', 5, now())`,
      [sessionId, userId],
    )
    return await finishLink(db, vault, { sessionId, node: null, owner: null, account, secrets: {} })
  }
  const source: RecordSource = {
    db,
    flush: async () => undefined,
    accountId: async () => 1,
    identity: (row) => openIdentity(vault, row),
    names: new AccountNames(db, (row) => openIdentity(vault, row)),
  }
  return { db, url, vault, userId, inTheClear, link, source }
}

const canaries = ['Canaria', 'Vogel', 'kanarien_vogel', '+4915112340000', 'canary.example']
const bird = {
  firstName: 'Canaria',
  lastName: 'Vogel',
  username: 'kanarien_vogel',
  phone: '+4915112340000',
}

t.test('a linked account is in no table by name, username, phone or address', async (t) => {
  const { url, link } = await rig(t)
  await link({ native: 'bird@canary.example', ...bird })
  t.same(await canariesIn(url, canaries), [])
})

t.test('an account that is linked once more is the same credential', async (t) => {
  const { link, db, vault } = await rig(t)
  const first = await link({ native: 'bird@canary.example', ...bird })
  const again = await link({ native: 'bird@canary.example', ...bird, firstName: 'Renamed' })
  t.same(again, {
    credentialId: first.credentialId,
    epoch: first.epoch + 1,
    link: 1,
    relinked: true,
  })
  t.not((await link({ native: 'other@canary.example', ...bird })).credentialId, first.credentialId)
  const [row] = await db.query<Parameters<typeof openIdentity>[1]>(
    'select id, account, account_sealed from credential where id = $1',
    [first.credentialId],
  )
  t.match(await openIdentity(vault, row!), { firstName: 'Renamed' })
})

t.test('what older versions stored is sealed at the start, and read as before', async (t) => {
  const { url, db, vault, userId, inTheClear, link, source } = await rig(t)
  const old = []
  for (let n = 0; n < 1_003; n++) old.push(await inTheClear({ ...bird, lastName: `Vogel ${n}` }))
  t.equal(await sealIdentities(db, vault), 1_003)
  t.equal(await sealIdentities(db, vault), 0, 'and nothing is left to do')
  t.same(await canariesIn(url, canaries), [])
  const rows = await db.query<Parameters<typeof openIdentity>[1]>(
    'select id, account, account_sealed from credential order by id',
  )
  for (const [n, row] of rows.entries()) t.same(await openIdentity(vault, row), old[n]!.account)
  const relinked = await link({ ...bird, native: old[7]!.account.native })
  t.same(
    relinked,
    { credentialId: old[7]!.id, epoch: 0, link: 1, relinked: true },
    'linked again, it is found',
  )
  const found = await searchCredentials(source, userId, query({ search: 'vogel 1002' }))
  t.same(
    found.items.map(({ account }) => account.last_name),
    ['Vogel 1002'],
  )
})

t.test('the migration wipes what is left of accounts that were deleted before', async (t) => {
  const { url, db, inTheClear } = await rig(t)
  // What a version before the migration has left: its column did not know null.
  await inTheClear(bird, { deleted: true })
  await inTheClear(bird, { deleted: true })
  await db.query('alter table credential drop column account_sealed cascade')
  await db.query('drop index credential_unsealed')
  await db.query(`delete from migration where name = '0023-sealed-accounts'`)
  t.same(await migrate(url), ['0023-sealed-accounts'])
  t.same(await canariesIn(url, canaries), [])
})

t.test('an account does not open in the place of another one', async (t) => {
  const { vault } = await rig(t)
  const sealed = await sealIdentity(vault, 1, 7, { native: 'n', firstName: 'Ada' })
  const row = { id: 8, account: null, account_sealed: sealed }
  await t.rejects(openIdentity(vault, row), { message: /cannot be read/ })
  t.equal(await openIdentity(vault, { ...row, account_sealed: null }), undefined, 'wiped')
})

const query = (more: Partial<CredentialQuery>): CredentialQuery => ({
  ...{ search: undefined, states: undefined, platform: undefined, actions: undefined },
  reasons: undefined,
  tags: undefined,
  ...{ sort: 'created', order: 'asc', before: undefined, limit: 100 },
  ...more,
})

t.test('a list is searched and sorted by what is sealed, page by page', async (t) => {
  const { userId, link, source } = await rig(t)
  const names = ['éva', 'Zoe', 'adam', 'Eva', 'آرش', 'ADAM', 'Ben']
  for (const [n, firstName] of names.entries()) {
    const lastName = n % 2 ? 'Müller' : undefined
    await link({
      native: `${n}`,
      firstName,
      ...(lastName && { lastName }),
      username: `user_${n}`,
      phone: `+4915112340${n}00`,
    })
  }
  const shown = async (more: Partial<CredentialQuery>) => {
    const all: string[] = []
    let before: string | undefined
    do {
      const page = await searchCredentials(source, userId, query({ limit: 2, ...more, before }))
      t.ok(page.items.length <= 2)
      all.push(...page.items.map(({ account }) => account.first_name))
      before = page.next_before ?? undefined
    } while (before !== undefined)
    return all
  }
  const sorted = ['adam', 'ADAM', 'Ben', 'éva', 'Eva', 'Zoe', 'آرش']
  const byName = await shown({ sort: 'name' })
  t.same(byName, sorted)
  t.same(await shown({ sort: 'name', order: 'desc' }), byName.toReversed())
  for (const sort of ['created', 'name', 'state', 'last_event', 'urgency'] as const) {
    t.same(await shown({ sort, search: 'zoe M' }), ['Zoe'], sort)
  }
  t.same(await shown({ search: 'mÜLL' }), ['Zoe', 'Eva', 'ADAM'])
  t.same(await shown({ search: 'USER_4' }), ['آرش'])
  t.same(await shown({ search: '340500' }), ['ADAM'])
  t.same(await shown({ search: '%' }), [])
  t.same(await shown({ search: 'adam', sort: 'name', order: 'desc' }), ['ADAM', 'adam'])
})

t.test('an account that is deleted while a list is read is left out', async (t) => {
  const { userId, link, source } = await rig(t)
  for (let n = 0; n < 3; n++) await link({ native: `${n}`, firstName: `Person ${n}` })
  // Its row was read before, its names were wiped since.
  const identity = async (row: IdentityRow) => {
    const known = await source.identity(row)
    return known?.native === '1' ? undefined : known
  }
  const { items } = await searchCredentials({ ...source, identity }, userId, query({}))
  t.same(
    items.map(({ account }) => account.first_name),
    ['Person 0', 'Person 2'],
  )
})

t.test('a list by the last event is in its order, page by page, to the microsecond', async (t) => {
  const { db, userId, link, source } = await rig(t)
  const times = ['.000002', '.000001', '.000003', undefined, '.000001', '.999999']
  for (const [n, fraction] of times.entries()) {
    const { credentialId } = await link({ native: `${n}`, firstName: `${n}` })
    await db.query('update credential set last_event_at = $2 where id = $1', [
      credentialId,
      fraction && `2026-11-26T10:00:00${fraction}Z`,
    ])
  }
  const shown = async (order: 'asc' | 'desc') => {
    let all = ''
    for (let before: string | undefined, left = times.length; left > 0; left--) {
      const one = query({ sort: 'last_event', order, limit: 1, before })
      const page = await searchCredentials(source, userId, one)
      all += page.items.map(({ account }) => account.first_name).join()
      before = page.next_before ?? undefined
    }
    return all
  }
  t.equal(await shown('desc'), '520413')
  t.equal(await shown('asc'), '314025')
})

t.test('a list opens each account once, and anew when it was sealed anew or wiped', async (t) => {
  const { db, vault, link } = await rig(t)
  let opened = 0
  const opening = new OpenedIdentities({
    open: (...given: Parameters<typeof vault.open>) => {
      opened++
      return vault.open(...given)
    },
  })
  const { credentialId } = await link({ native: 'bird@canary.example', ...bird })
  const look = async () => {
    const [row] = await db.query<IdentityRow>(
      'select id, account, account_sealed from credential where id = $1',
      [credentialId],
    )
    const name = (await opening.of(row!))?.firstName
    // Nothing of the row is needed any more: its bytes hold all that came with it.
    row!.account_sealed?.fill(0)
    return name
  }
  t.same([await look(), await look(), opened], ['Canaria', 'Canaria', 1])
  await link({ native: 'bird@canary.example', ...bird, firstName: 'Renamed' })
  t.same([await look(), await look(), opened], ['Renamed', 'Renamed', 2])
  await db.query('update credential set account_sealed = null where id = $1', [credentialId])
  t.same([await look(), opened], [undefined, 2])
})

t.test('a search knows what changed since the one before, also by what commits late', async (t) => {
  const { db, vault, userId, link, source } = await rig(t)
  for (let n = 0; n < 5; n++) await link({ native: `${n}`, firstName: `Person ${n}` })
  const found = async (more: Partial<CredentialQuery>) =>
    (await searchCredentials(source, userId, query(more))).items.map(
      ({ account }) => account.first_name,
    )
  t.same(await found({ search: 'zoe' }), [])
  const [first] = await db.query<{ id: number }>('select min(id) as id from credential')
  const rename = async (firstName: string) =>
    sealIdentity(vault, userId, first!.id, { native: '0', firstName })
  const [zoe, other] = [await rename('Zoë ۲۷'), await rename('Other')]
  await db.transaction(async (tx) => {
    await tx.query('update credential set account_sealed = $1 where id = $2', [zoe, first!.id])
    await link({ native: '9', firstName: 'Person 9' })
    t.same(await found({ search: 'zoe' }), [], 'not committed yet')
  })
  t.same(await found({ search: 'zoe 27' }), ['Zoë ۲۷'])
  t.same(await found({ search: 'person', sort: 'name', order: 'asc' }), [
    'Person 1',
    'Person 2',
    'Person 3',
    'Person 4',
    'Person 9',
  ])
  t.same(await found({ search: `#${first!.id}` }), ['Zoë ۲۷'])
  await db.query('update credential set account_sealed = $1 where id = $2', [other, first!.id])
  t.same(await found({ sort: 'name', order: 'asc', limit: 1 }), ['Other'])
  await db.query('update credential set account_sealed = null where id = $1', [first!.id])
  t.same(await found({ search: 'other' }), [], 'a wiped name is forgotten')
  t.same(await found({ search: 'person', states: ['limited'] }), [])
})
