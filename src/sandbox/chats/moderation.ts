/** Members as administrators see and change them: lists, bans, restrictions, promotions, and the rights that bots ask for. */
import { failed, notFound, type RequestFailed } from '../../../machines/model/failure.ts'
import type { Member } from '../../../machines/model/membership.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { DefaultRights } from '../../../machines/model/operation-bots.ts'
import { PERMISSIONS, type Right, rightsGiven } from '../../../machines/model/rights.ts'
import type { Queryable } from '../../database/database.ts'
import { parseChatId } from '../delivery/mapping.ts'
import { messageChange, queueing, woken } from '../delivery/queue.ts'
import { holderOf, mayHaveFilesSql, releaseFiles } from '../files/files.ts'
import type { ActingPerson, Call } from '../network/context.ts'
import type { ChatRow } from '../network/rows.ts'
import { accessOf, assertMay, type ChatAccess, readAccessOf } from './access.ts'
import {
  administratorsOf,
  type ChatKey,
  changeMember,
  countMembers,
  isInside,
  memberOf,
} from './members.ts'
import { type ChatTransaction, lockChat } from './transaction.ts'

type Moderation = OperationOf<'ban' | 'unban' | 'restrict' | 'promote'>

/** A member with all of these is not restricted. */
const SPEAKING = PERMISSIONS.filter(
  (name) => name.startsWith('send_') || name === 'react_to_messages',
)

const done: OperationResult = { kind: 'done' }
const bad = (description: string) => failed('bad_request', description)

export async function listAdministrators(
  { context: { db }, by }: Call,
  { chat }: OperationOf<'administrators'>,
): Promise<OperationResult> {
  const access = await readAccessOf(db, by.person, parseChatId(chat))
  if (access.chat.kind === 'private') {
    throw bad('there are no administrators in the private chat')
  }
  const members = await administratorsOf(db, access.chat.id)
  return {
    kind: 'members',
    members: members.map((each) => seenBy(access, by, each)),
    surface: access.chat.kind,
  }
}

/** The owner may change the rights of an administrator, and so may the one who gave them. */
const isEditableBy = ({ role }: ChatAccess, by: ActingPerson, { status, promotedBy }: Member) =>
  status === 'administrator' && (role === 'owner' || promotedBy === `${by.person}`)

const seenBy = (access: ChatAccess, by: ActingPerson, member: Member): Member =>
  isEditableBy(access, by, member) ? { ...member, isEditable: true } : member

export async function countAllMembers(
  { context: { db }, by }: Call,
  { chat }: OperationOf<'count_members'>,
): Promise<OperationResult> {
  const access = await readAccessOf(db, by.person, parseChatId(chat))
  return { kind: 'number', number: await countMembers(db, access.chat.id) }
}

export async function describeMember(
  { context: { db }, by }: Call,
  { chat, person }: OperationOf<'member'>,
): Promise<OperationResult> {
  const access = await readAccessOf(db, by.person, parseChatId(chat))
  const member = seenBy(access, by, await knownMember({ db }, access, person))
  return { kind: 'member', member, surface: access.chat.kind }
}

export async function moderate({ context, by }: Call, asked: Moderation): Promise<OperationResult> {
  const [native, person] = [parseChatId(asked.chat), parseChatId(asked.person)]
  const { chat } = await accessOf(context.db, by.person, native)
  const operation = suiting(chat, asked)
  const forgotten = await lockChat(context, { chat: chat.id, person }, async (transaction) => {
    const access = await accessOf(transaction.db, by.person, native)
    assertSuits(access, operation.kind)
    const target = await knownMember(transaction, access, operation.person)
    if (!isMoot(operation, target)) assertOther(by, target, operation.kind)
    assertRights(access, operation)
    if (!isMoot(operation, target)) assertEditable(access, by, target, operation.kind)
    await change(transaction, by, access.chat, operation, target)
    return operation.kind === 'ban' && operation.deletesMessages
      ? forgetMessages(transaction, by.person, chat.id, person)
      : []
  })
  for (const request of forgotten) await releaseFiles(context, holderOf(person, request))
  return done
}

/** Lets somebody back who was never put out. */
const isMoot = (operation: Moderation, { status }: Member) =>
  operation.kind === 'unban' && operation.onlyIfBanned && status !== 'kicked'

/** What the kind of chat does not know is dropped. */
const suiting = ({ kind }: ChatAccess['chat'], operation: Moderation): Moderation =>
  operation.kind === 'promote' ? { ...operation, ...rightsGiven(kind, operation) } : operation

/** An administrator can give only rights that they have. */
function assertRights(access: ChatAccess, operation: Moderation): void {
  const isPromotion = operation.kind === 'promote'
  const purpose = isPromotion ? '' : 'restrict/unrestrict chat member'
  const rights: readonly Right[] = isPromotion
    ? ['promote_members', ...operation.rights]
    : ['restrict_members']
  for (const right of rights) assertMay(access, purpose, right)
}

async function change(
  transaction: ChatTransaction,
  by: ActingPerson,
  chat: ChatKey,
  operation: Moderation,
  target: Member,
): Promise<void> {
  const person = Number(target.person.native)
  const until = 'until' in operation && operation.until !== undefined && { until: operation.until }
  switch (operation.kind) {
    case 'ban':
      return changeMember(transaction, by, chat, person, { role: 'kicked', ...until })
    case 'unban':
      // Without `onlyIfBanned` a member is removed and may come back.
      if (target.status === 'kicked' || (!operation.onlyIfBanned && isInside(target))) {
        await changeMember(transaction, by, chat, person, { role: 'left' })
      }
      return
    case 'restrict': {
      const isFree = SPEAKING.every((name) => operation.permissions.includes(name)) && !until
      const role = isInside(target) ? 'member' : 'left'
      const permissions = isFree ? {} : { permissions: operation.permissions }
      return changeMember(transaction, by, chat, person, { role, ...permissions, ...until })
    }
    case 'promote': {
      if (!isInside(target)) throw bad('USER_NOT_PARTICIPANT')
      const { rights, isAnonymous = false } = operation
      const change =
        rights.length > 0
          ? { role: 'admin' as const, rights, isAnonymous }
          : { role: 'member' as const }
      return changeMember(transaction, by, chat, person, change)
    }
  }
}

function assertSuits({ chat }: ChatAccess, kind: Moderation['kind']): void {
  if (chat.kind === 'private') {
    throw bad('method is available for group, supergroup and channel chats only')
  }
  if (kind === 'restrict' && chat.kind !== 'supergroup') {
    throw bad('method is available only for supergroups')
  }
  if ((kind === 'promote' || kind === 'unban') && chat.kind === 'group') {
    throw bad('method is available for supergroup and channel chats only')
  }
}

function assertOther(by: ActingPerson, target: Member, kind: Moderation['kind']): void {
  if (String(by.person) === target.person.native) {
    throw bad(kind === 'promote' ? "can't promote self" : "can't restrict self")
  }
  if (target.status === 'creator') throw bad("can't remove chat owner")
}

function assertEditable(
  access: ChatAccess,
  by: ActingPerson,
  target: Member,
  kind: Moderation['kind'],
): void {
  if (target.status !== 'administrator' || isEditableBy(access, by, target)) return
  throw bad(kind === 'promote' ? 'CHAT_ADMIN_REQUIRED' : 'user is an administrator of the chat')
}

async function knownMember(
  { db }: Pick<ChatTransaction, 'db'>,
  { chat }: ChatAccess,
  person: string,
): Promise<Member> {
  const found = await memberOf(db, chat.id, parseChatId(person))
  if (!found) throw unknownMember(chat.kind)
  return found
}

/** The refusal where the network knows nobody with the id. */
export function unknownMember(kind: ChatRow['kind']): RequestFailed {
  if (kind === 'private') return notFound('member')
  if (kind === 'group') return notFound('user')
  return failed('bad_request', 'PARTICIPANT_ID_INVALID', { reason: 'user_not_found' })
}

export async function setDefaultRights(
  { context: { db }, by: { person } }: Call,
  { inChannels, rights, isAnonymous }: OperationOf<'set_default_rights'>,
): Promise<OperationResult> {
  const isAsking = rights.length > 0 || isAnonymous
  await db.query(
    `update sandbox_person set ${inChannels ? 'channel_rights' : 'group_rights'} = $2 where id = $1`,
    [person, isAsking ? JSON.stringify({ rights, isAnonymous } satisfies DefaultRights) : null],
  )
  return done
}

/** The rights that a person asks for in a channel or a group; undefined where they ask for none. */
export async function defaultRightsOf(
  db: Queryable,
  person: number,
  kind: string,
): Promise<DefaultRights | undefined> {
  const [row] = await db.query<{ asked: DefaultRights | null }>(
    `select ${kind === 'channel' ? 'channel_rights' : 'group_rights'} as asked
     from sandbox_person where id = $1`,
    [person],
  )
  return row?.asked ?? undefined
}

const forgetting = {
  name: 'sandbox_forget',
  text: `with message as (
      update sandbox_message e set deleted_at = now()
      where e.chat_id = $2 and e.sender_id = $3 and e.deleted_at is null
        and e.content ->> 'kind' <> 'service'
      returning e.*
    ),
    change as (${messageChange('message.id', 'null::bigint', '$1::bigint')}), ${queueing('deleted')}
    select ${woken}, coalesce(
      (select jsonb_agg(request_id) from message where ${mayHaveFilesSql}), '[]'
    ) as requests`,
}

/** Deletes the messages of a person who is banned. Resolves with the requests of those that had files. */
async function forgetMessages(
  { db, wake }: ChatTransaction,
  actor: number,
  chat: number,
  person: number,
): Promise<readonly string[]> {
  const [row] = await db.query<{ woken: number[]; requests: string[] }>(forgetting, [
    actor,
    chat,
    person,
  ])
  wake(row?.woken ?? [])
  return row?.requests ?? []
}
