/** The migration that gives each user a sandbox network of their own, on a database from before it. */
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrationsList } from '../../src/database/migrations/index.ts'
import { runPending } from '../../src/database/migrator.ts'
import { quietLogger } from '../support/logger.ts'
import { joinTestServer } from '../support/postgres.ts'

const NAME = '0025-sandbox-networks'

async function before(t: Test) {
  const server = await joinTestServer()
  const name = `chapar_test_networks_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  await server.client.query(`create database ${name} template template0`)
  const url = server.url(name)
  const db = openDatabase({ url, logger: quietLogger })
  t.teardown(async () => {
    await db.close()
    await server.client.query(`drop database ${name} with (force)`)
    await server.client.end()
  })
  const place = migrationsList.findIndex((migration) => migration.name === NAME)
  await runPending(url, migrationsList.slice(0, place))
  return { db, migrate: () => runPending(url) }
}

const PEOPLE = ['bot', 'ada', 'eve', 'other_bot', 'zoe', 'shared', 'alone'] as const
type Name = (typeof PEOPLE)[number]

/** Two users: one linked `bot`, the other `other_bot`, both `shared`. */
async function oldRows(db: Database) {
  const users = await db.query<{ id: number }>(
    `insert into app_user (phone_index, phone_sealed)
     select decode(n, 'hex'), '' from unnest(array['01', '02']) n returning id`,
  )
  const [first, second] = users.map(({ id }) => id)
  const rows = await db.query<{ id: number; username: Name }>(
    `insert into sandbox_person (phone, username, first_name, sessions)
     select '+1555000' || (1000 + n), name, name, case when name = 'shared' then 2 else 0 end
     from unnest($1::text[]) with ordinality p (name, n) returning id, username`,
    [[...PEOPLE]],
  )
  const id = Object.fromEntries(rows.map((row) => [row.username, row.id])) as Record<Name, number>
  const link = (user: number, person: number) =>
    db.query(
      `insert into credential (user_id, platform, native_id, account)
       values ($1, 'sandbox', $2, '{}')`,
      [user, `${person}`],
    )
  await link(first!, id.bot)
  await link(second!, id.other_bot)
  await link(first!, id.shared)
  await link(second!, id.shared)
  await db.query(
    `insert into sandbox_session (person_id, token_hash, acknowledged)
     values ($1, '\\x01', 0), ($1, '\\x02', 0)`,
    [id.shared],
  )
  const privately = async (one: number, two: number, request: string) => {
    const [chat] = await db.query<{ id: number }>(
      `insert into sandbox_chat (kind, low_id, high_id, last_message)
       values ('private', least($1::bigint, $2), greatest($1::bigint, $2), 1) returning id`,
      [one, two],
    )
    await db.query(
      'insert into sandbox_member (chat_id, person_id) values ($1, $2), ($1, $3) on conflict do nothing',
      [chat!.id, one, two],
    )
    await db.query(
      `insert into sandbox_message (chat_id, id, sender_id, request_id, content)
       values ($1, 1, $2, $3, '{"kind":"text","text":"hi","entities":[]}')`,
      [chat!.id, one, request],
    )
    return chat!.id
  }
  const chats = {
    code: await privately(777_000, id.bot, 'code'),
    // Eve has only talked to Ada, and Ada to the bot: both are the first user's.
    ada: await privately(id.bot, id.ada, 'ada'),
    eve: await privately(id.ada, id.eve, 'eve'),
    zoe: await privately(id.zoe, id.other_bot, 'zoe'),
    torn: await privately(id.bot, id.other_bot, 'torn'),
  }
  const [group] = await db.query<{ id: number }>(
    `insert into sandbox_chat (kind, native, title) values ('group', -1, 'Both') returning id`,
  )
  await db.query(
    `insert into sandbox_member (chat_id, person_id, role)
     values ($1, $2, 'owner'), ($1, $3, 'member'), ($1, $4, 'member')`,
    [group!.id, id.other_bot, id.bot, id.ada],
  )
  await filesOf(db, second!, `sandbox:${id.bot}:torn`, `sandbox:${id.ada}:picture`)
  return { id, chats: { ...chats, group: group!.id }, first: first!, second: second! }
}

/** A file of the second user that a person of the first has sent, and a set of stickers. */
async function filesOf(db: Database, user: number, ...holders: string[]) {
  await db.query(
    `insert into media_blob (blob, user_id, size, mime, object, sealed_key, expires_at)
     values ('b1', $1, 1, 'image/png', 'o1', '', now())`,
    [user],
  )
  await db.query(`insert into media_hold (blob, holder) select 'b1', unnest($1::text[])`, [holders])
  await db.query(`insert into sandbox_file (native, kind, media) values ('b1', 'photo', '{}')`)
  await db.query(
    `insert into sandbox_sticker_set (name, title, stickers)
     values ('Cats', 'Cats', '[{"kind":"sticker","file":{"native":"b1"}}]')`,
  )
}

t.test('old people, chats, files and sticker sets go to the users they belong to', async (t) => {
  const { db, migrate } = await before(t)
  const { id, chats, first, second } = await oldRows(db)
  t.ok((await migrate()).includes(NAME))

  const people = await db.query<{ id: number; user_id: number | null }>(
    'select id, user_id from sandbox_person order by id',
  )
  const ownerOf = Object.fromEntries(people.map((row) => [row.id, row.user_id]))
  t.strictSame(ownerOf, {
    777000: null,
    [id.bot]: first,
    [id.ada]: first,
    [id.eve]: first,
    [id.other_bot]: second,
    [id.zoe]: second,
    [id.shared]: second,
    [id.alone]: first,
  })
  const sessions = await db.query('select ended from sandbox_session')
  t.strictSame(sessions, [{ ended: 'revoked' }, { ended: 'revoked' }])

  const left = await db.query<{ id: number; user_id: number }>(
    'select id, user_id from sandbox_chat order by id',
  )
  t.strictSame(left, [
    { id: chats.code, user_id: first },
    { id: chats.ada, user_id: first },
    { id: chats.eve, user_id: first },
    { id: chats.zoe, user_id: second },
    { id: chats.group, user_id: second },
  ])
  const torn = await db.query('select from sandbox_message where chat_id = $1', [chats.torn])
  t.equal(torn.length, 0, 'what two users wrote to each other is in nobody else’s network')
  t.strictSame(
    await db.query('select person_id from sandbox_member where chat_id = $1', [chats.group]),
    [{ person_id: id.other_bot }],
  )
  t.strictSame(
    await db.query('select user_id, native, kind from sandbox_file order by user_id'),
    [first, second].map((user_id) => ({ user_id, native: 'b1', kind: 'photo' })),
  )
  t.strictSame(await db.query('select holder from media_hold'), [
    { holder: `sandbox:${id.ada}:picture` },
  ])
  t.strictSame(await db.query('select user_id, name from sandbox_sticker_set'), [
    { user_id: second, name: 'Cats' },
  ])
})

t.test('a database without users and people migrates as well', async (t) => {
  const { db, migrate } = await before(t)
  t.ok((await migrate()).includes(NAME))
  t.strictSame(await db.query('select id, user_id from sandbox_person'), [
    { id: 777_000, user_id: null },
  ])
})
