/** Bots that people make for an account which manages them: their tokens, and who may write to them. */
import { randomBytes } from 'node:crypto'
import { badRequest, notFound, readBack } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Queryable } from '../../database/database.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { parseChatId, personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'
import { People } from '../people/people.ts'

const MOST_ADDED = 10

export interface NewBot {
  /** The account that manages it. */
  readonly manager: number
  readonly firstName: string
  readonly username: string
}

/** The manager is notified of its new bot. */
export async function createManagedBot(
  context: NetworkContext,
  owner: number,
  { manager, firstName, username }: NewBot,
): Promise<Person> {
  if (!/bot$/i.test(username)) throw badRequest('USERNAME_INVALID')
  const [made] = await new People(context).create([{ first_name: firstName, username }])
  const roles = { bot: made!.id, manager, owner }
  // The bot is there, and its name is taken.
  await readBack(giveToManager(context, roles))
  return { ...personOf(made!), isBot: true }
}

async function giveToManager(context: NetworkContext, roles: Roles): Promise<void> {
  const { bot, manager, owner } = roles
  await context.db.query(
    `insert into sandbox_managed_bot (bot_id, manager_id, owner_id, token)
     values ($1, $2, $3, $4)`,
    [bot, manager, owner, newToken(bot)],
  )
  await tellManager(context, roles)
}

const newToken = (bot: number) => `${bot}:${randomBytes(26).toString('base64url')}`

interface Roles {
  readonly bot: number
  readonly manager: number
  readonly owner: number
}

async function tellManager(
  { db, wake }: Pick<NetworkContext, 'db' | 'wake'>,
  { bot, manager, owner }: Roles,
): Promise<void> {
  await openPrivateChat(db, owner, manager)
  const [row] = await db.query<{ chat: number; person: PersonRow; bot: PersonRow }>(
    `select c.id as chat, ${personJson('p')} as person, ${personJson('b')} as bot
     from sandbox_chat c, sandbox_person p, sandbox_person b
     where c.low_id = least($1::bigint, $2::bigint) and c.high_id = greatest($1::bigint, $2::bigint)
       and p.id = $1 and b.id = $3`,
    [owner, manager, bot],
  )
  if (!row) return
  const facts = { person: personOf(row.person), bot: personOf(row.bot) }
  const event = { kind: 'managed_bot' as const, chat: row.chat, actor: owner, facts }
  await notify({ db, wake }, event, { people: [manager] })
}

interface ManagedRow {
  readonly token: string
  readonly isRestricted: boolean
  readonly added: readonly number[]
}

async function managedBy({ context: { db }, by }: Call, bot: string): Promise<ManagedRow> {
  const [row] = await db.query<ManagedRow>(
    `select token, is_restricted as "isRestricted", added from sandbox_managed_bot
     where bot_id = $1 and manager_id = $2`,
    [parseChatId(bot), by.person],
  )
  if (!row) throw badRequest('BOT_INVALID')
  return row
}

/** The devices that were linked with the token before are signed out. */
export async function managedBotToken(
  call: Call,
  { person, isReplaced }: OperationOf<'managed_bot_token'>,
): Promise<OperationResult> {
  const { token } = await managedBy(call, person)
  if (!isReplaced) return { kind: 'token', token }
  return { kind: 'token', token: await replaceToken(call.context, parseChatId(person)) }
}

async function replaceToken({ db, signOut }: NetworkContext, bot: number): Promise<string> {
  const token = newToken(bot)
  await db.query('update sandbox_managed_bot set token = $2 where bot_id = $1', [bot, token])
  await signOut(bot)
  return token
}

/** The owner replaces the token; the manager is notified, and asks for the new one. */
export async function replaceOwnToken(
  context: NetworkContext,
  owner: number,
  bot: number,
): Promise<void> {
  const [row] = await context.db.query<{ readonly manager: number }>(
    'select manager_id as manager from sandbox_managed_bot where bot_id = $1 and owner_id = $2',
    [bot, owner],
  )
  if (!row) throw badRequest('BOT_INVALID')
  await replaceToken(context, bot)
  await tellManager(context, { bot, manager: row.manager, owner })
}

/** The bots that a person has made, the oldest first. */
export async function botsMadeBy({ db }: Pick<NetworkContext, 'db'>, owner: number) {
  const rows = await db.query<{ bot: PersonRow; manager: PersonRow; token: string }>(
    `select ${personJson('b')} as bot, ${personJson('m')} as manager, t.token
     from sandbox_managed_bot t join sandbox_person b on b.id = t.bot_id
     join sandbox_person m on m.id = t.manager_id
     where t.owner_id = $1 and not b.deactivated order by t.bot_id limit 100`,
    [owner],
  )
  return rows.map(({ bot, manager, token }) => ({
    bot: personOf(bot),
    manager: personOf(manager),
    token,
  }))
}

export async function managedBotAccess(
  call: Call,
  { person }: OperationOf<'managed_bot_access'>,
): Promise<OperationResult> {
  const { isRestricted, added } = await managedBy(call, person)
  const rows = await call.context.db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where p.id = any($1) order by p.id`,
    [isRestricted ? added : []],
  )
  return { kind: 'access', isRestricted, people: rows.map((row) => personOf(row.person)) }
}

export async function setManagedBotAccess(
  call: Call,
  { person, isRestricted, added }: OperationOf<'set_managed_bot_access'>,
): Promise<OperationResult> {
  await managedBy(call, person)
  const { db, network } = call.context
  const people = isRestricted ? [...new Set(added.map(parseChatId))] : []
  if (people.length > MOST_ADDED) throw badRequest('too many users specified')
  const known = await db.query('select from sandbox_person where id = any($1) and user_id = $2', [
    people,
    network,
  ])
  if (known.length < people.length) throw notFound('user')
  await db.query(
    'update sandbox_managed_bot set is_restricted = $2, added = $3 where bot_id = $1',
    [parseChatId(person), isRestricted, people],
  )
  return { kind: 'done' }
}

/** The bot with this token in the network of a user; undefined if none has it. */
export async function botWithToken(
  db: Queryable,
  network: number | undefined,
  token: string,
): Promise<number | undefined> {
  const [row] = await db.query<{ readonly bot: number }>(
    `select b.bot_id as bot from sandbox_managed_bot b
     join sandbox_person p on p.id = b.bot_id
     where b.token = $1 and p.user_id = $2`,
    [token, network ?? null],
  )
  return row?.bot
}
