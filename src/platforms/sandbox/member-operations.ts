/** What administrators do with members, and who they are. */
import { failed } from '../../../machines/model/failure.ts'
import { type Member, PERMISSIONS, type Right } from '../../../machines/model/membership.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { forgetMessages } from '../../sandbox/chats/forget.ts'
import {
  administratorsOf,
  type ChatPlace,
  changeMember,
  countMembers,
  isInside,
  memberOf,
} from '../../sandbox/chats/membership.ts'
import {
  assertMay,
  lookingStanding,
  type Standing,
  standingOf,
} from '../../sandbox/chats/standing.ts'
import { inTurn, type Turn } from '../../sandbox/chats/turn.ts'
import { chatNative } from '../../sandbox/delivery/natives.ts'
import { holderOf, letGo } from '../../sandbox/files/holding.ts'
import type { Doer, World } from './operations.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>
type Moderation = Of<'ban' | 'unban' | 'restrict' | 'promote'>

/** With all of these somebody is a member like the others. */
const SPEAKING = PERMISSIONS.filter(
  (name) => name.startsWith('send_') || name === 'react_to_messages',
)

const done: OperationResult = { kind: 'done' }
const bad = (description: string) => failed('bad_request', description)

export async function administrators(
  { db }: World,
  doer: Doer,
  { chat }: Of<'administrators'>,
): Promise<OperationResult> {
  const standing = await lookingStanding(db, doer.person, chatNative(chat))
  if (standing.chat.kind === 'private') {
    throw bad('there are no administrators in the private chat')
  }
  const members = await administratorsOf(db, standing.chat.id)
  return { kind: 'members', members: members.map((each) => seenBy(standing, each)) }
}

/** Only the owner may take anybody's rights. */
const seenBy = ({ role }: Standing, member: Member): Member =>
  role === 'owner' && member.status === 'administrator' ? { ...member, isEditable: true } : member

export async function count(
  { db }: World,
  doer: Doer,
  { chat }: Of<'count_members'>,
): Promise<OperationResult> {
  const standing = await lookingStanding(db, doer.person, chatNative(chat))
  return { kind: 'number', number: await countMembers(db, standing.chat.id) }
}

export async function member(
  { db }: World,
  doer: Doer,
  { chat, person }: Of<'member'>,
): Promise<OperationResult> {
  const standing = await lookingStanding(db, doer.person, chatNative(chat))
  return { kind: 'member', member: seenBy(standing, await knownMember({ db }, standing, person)) }
}

export async function moderate(
  world: World,
  doer: Doer,
  operation: Moderation,
): Promise<OperationResult> {
  const [native, person] = [chatNative(operation.chat), chatNative(operation.person)]
  const { chat } = await standingOf(world.db, doer.person, native)
  const forgotten = await inTurn(world, { chat: chat.id, person }, async (turn) => {
    const standing = await standingOf(turn.db, doer.person, native)
    assertSuits(standing, operation.kind)
    const target = await knownMember(turn, standing, operation.person)
    assertOther(doer, target, operation.kind)
    assertRights(standing, operation)
    await carryOut(turn, doer, standing.chat, operation, target)
    return operation.kind === 'ban' && operation.deletesMessages
      ? forgetMessages(turn, doer.person, chat.id, person)
      : []
  })
  for (const request of forgotten) await letGo(world, holderOf(person, request))
  return done
}

/** Nobody gives a right that they do not have. */
function assertRights(standing: Standing, operation: Moderation): void {
  const isPromotion = operation.kind === 'promote'
  const purpose = isPromotion ? '' : 'restrict/unrestrict chat member'
  const rights: readonly Right[] = isPromotion
    ? ['promote_members', ...operation.rights]
    : ['restrict_members']
  for (const right of rights) assertMay(standing, purpose, right)
}

async function carryOut(
  turn: Turn,
  doer: Doer,
  chat: ChatPlace,
  operation: Moderation,
  target: Member,
): Promise<void> {
  const person = Number(target.person.native)
  const until = 'until' in operation && operation.until !== undefined && { until: operation.until }
  switch (operation.kind) {
    case 'ban':
      return changeMember(turn, doer, chat, person, { role: 'kicked', ...until })
    case 'unban':
      // Without the condition somebody who is in is put out, but may come back.
      if (target.status === 'kicked' || (!operation.onlyIfBanned && isInside(target))) {
        await changeMember(turn, doer, chat, person, { role: 'left' })
      }
      return
    case 'restrict': {
      const isFree = SPEAKING.every((name) => operation.permissions.includes(name)) && !until
      const role = isInside(target) ? 'member' : 'left'
      const permissions = isFree ? {} : { permissions: operation.permissions }
      return changeMember(turn, doer, chat, person, { role, ...permissions, ...until })
    }
    case 'promote': {
      if (!isInside(target)) throw bad('USER_NOT_PARTICIPANT')
      const { rights, isAnonymous = false } = operation
      // Any right at all lets somebody manage the chat.
      const all = [...new Set<Right>(['manage_chat', ...rights])]
      const change =
        rights.length > 0 || isAnonymous
          ? { role: 'admin' as const, rights: all, isAnonymous }
          : { role: 'member' as const }
      return changeMember(turn, doer, chat, person, change)
    }
  }
}

function assertSuits({ chat }: Standing, kind: Moderation['kind']): void {
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

function assertOther(doer: Doer, target: Member, kind: Moderation['kind']): void {
  if (String(doer.person) === target.person.native) {
    throw bad(kind === 'promote' ? "can't promote self" : "can't restrict self")
  }
  if (target.status === 'creator') throw bad("can't remove chat owner")
  if (target.status === 'administrator' && kind !== 'promote') {
    throw bad('user is an administrator of the chat')
  }
}

async function knownMember(
  { db }: Pick<Turn, 'db'>,
  { chat }: Standing,
  person: string,
): Promise<Member> {
  const found = await memberOf(db, chat.id, chatNative(person))
  if (!found) throw bad('user not found')
  return found
}
