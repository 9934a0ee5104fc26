/** Keys by which a person shares people, chats or the data of a web app with the sender of a keyboard. */
import { randomBytes } from 'node:crypto'
import type { Key } from '../../../machines/model/buttons.ts'
import type { Content, Service } from '../../../machines/model/content.ts'
import { badRequest, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf } from '../chats/access.ts'
import { parseChatId } from '../delivery/mapping.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'
import { storable } from './content.ts'
import { keyboardsFor } from './reply-keyboards.ts'

const KEPT_SECONDS = 86_400

/** `to` is the sender of the keyboard; `prepared` the id of a key that the sender keeps for a web app. */
export interface Share {
  readonly to: number
  readonly prepared?: string
  readonly request: number
  readonly people?: readonly number[]
  readonly chat?: number
}

interface UsersAsked {
  readonly request_id: number
  readonly max_quantity?: number
  readonly request_name?: boolean
  readonly request_username?: boolean
}

interface ChatAsked {
  readonly request_id: number
  readonly chat_is_channel?: boolean
  readonly request_title?: boolean
  readonly request_username?: boolean
}

type Sharing = Content & { readonly kind: 'service' }

/** The message that shares what a key asks for. Rejects where no key asks for it. */
export async function sharedContent(
  context: NetworkContext,
  person: number,
  share: Share,
): Promise<Sharing> {
  const keys = await keysFor(context, person, share)
  const { request, people, chat } = share
  const users = asked<UsersAsked>(keys, 'request_users', request)
  if (users && people) return { kind: 'service', ...(await peopleShared(context, users, people)) }
  const wanted = asked<ChatAsked>(keys, 'request_chat', request)
  if (wanted && chat !== undefined) {
    return { kind: 'service', ...(await chatShared(context.db, person, wanted, chat)) }
  }
  throw badRequest('no key asks for this')
}

/** Rejects where no key of the account asks the person to make a bot for it. */
export async function assertBotAsked(
  context: NetworkContext,
  person: number,
  share: Pick<Share, 'to' | 'prepared' | 'request'>,
): Promise<void> {
  const keys = await keysFor(context, person, share)
  if (!asked(keys, 'request_managed_bot', share.request)) throw badRequest('no key asks for this')
}

/** The data that a web app sends; it was opened by a key with this text. */
export async function webAppData(
  { db }: NetworkContext,
  person: number,
  { to, button, data }: { readonly to: number; readonly button: string; readonly data: string },
): Promise<Sharing> {
  const keys = await standingKeys(db, person, to)
  const isOpen = keys.some(({ text, more = {} }) => text === button && more.web_app)
  if (!isOpen) throw badRequest('no key opens a web app')
  return { kind: 'service', fact: 'web_app_data', button, data }
}

async function standingKeys(db: Queryable, person: number, to: number): Promise<readonly Key[]> {
  const standing = await keyboardsFor(db, person)
  return standing
    .filter(({ chat }) => chat.native === `${to}`)
    .flatMap(({ keyboard }) => (keyboard.kind === 'keys' ? keyboard.rows.flat() : []))
}

async function keysFor(
  { db, now }: NetworkContext,
  person: number,
  { to, prepared }: Pick<Share, 'to' | 'prepared'>,
): Promise<readonly Key[]> {
  if (prepared === undefined) return standingKeys(db, person, to)
  const rows = await db.query<{ key: Key }>(
    `select key from sandbox_prepared_key
     where id = $1 and person_id = $2 and bot_id = $3 and expires_at > to_timestamp($4)`,
    [prepared, person, to, now() / 1000],
  )
  return rows.map(({ key }) => key)
}

function asked<Asked extends { readonly request_id: number }>(
  keys: readonly Key[],
  name: 'request_users' | 'request_chat' | 'request_managed_bot',
  request: number,
): Asked | undefined {
  return keys
    .map(({ more = {} }) => more[name] as Asked | undefined)
    .find((one) => one?.request_id === request)
}

async function peopleShared(
  { db, network }: NetworkContext,
  { request_id, max_quantity = 1, request_name, request_username }: UsersAsked,
  people: readonly number[],
): Promise<Service> {
  if (people.length === 0 || people.length > max_quantity)
    throw badRequest('wrong number of people')
  const rows = await db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p
     where id = any($1) and user_id = $2 order by id`,
    [people, network],
  )
  if (rows.length < new Set(people).size) throw notFound('user')
  return {
    fact: 'users_shared',
    request: request_id,
    people: rows.map(({ person }) => ({
      native: `${person.id}`,
      ...(request_name && { firstName: person.first_name }),
      ...(request_name && person.last_name !== null && { lastName: person.last_name }),
      ...(request_username && person.username !== null && { username: person.username }),
    })),
  }
}

async function chatShared(
  db: Queryable,
  person: number,
  { request_id, chat_is_channel = false, request_title, request_username }: ChatAsked,
  native: number,
): Promise<Service> {
  const { chat } = await accessOf(db, person, native)
  const { kind, title, username } = chat
  if (kind === 'private' || (kind === 'channel') !== chat_is_channel) {
    throw badRequest('another kind of chat is asked for')
  }
  return {
    fact: 'chat_shared',
    request: request_id,
    chat: {
      native: `${native}`,
      surface: kind,
      ...(request_title && title !== null && { title }),
      ...(request_username && username !== null && { username }),
    },
  }
}

export async function prepareKey(
  { context, by }: Call,
  { person, key }: OperationOf<'prepare_key'>,
): Promise<OperationResult> {
  const id = randomBytes(12).toString('base64url')
  const rows = await context.db.query(
    `insert into sandbox_prepared_key (id, person_id, bot_id, key, expires_at)
     select $1, p.id, $3, $4, to_timestamp($5) from sandbox_person p
     where p.id = $2 and p.user_id = $6 returning id`,
    [
      ...[id, parseChatId(person), by.person, JSON.stringify(storable(key))],
      ...[context.now() / 1000 + KEPT_SECONDS, context.network],
    ],
  )
  if (rows.length === 0) throw notFound('user')
  return { kind: 'prepared', id }
}
