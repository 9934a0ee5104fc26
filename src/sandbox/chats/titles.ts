/** Titles of administrators, tags of members, and banned sender channels. */
import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { chatOf, parseChatId } from '../delivery/mapping.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { accessOf, assertMay, may } from './access.ts'
import { isInside, memberOf, retitleMember } from './members.ts'
import { moderate, unknownMember } from './moderation.ts'
import { lockChat } from './transaction.ts'

const LENGTH = 16
const done: OperationResult = { kind: 'done' }
const bad = (description: string) => failed('bad_request', description)

export async function setMemberTitle(
  { context, by }: Call,
  { chat, person: named, title }: OperationOf<'set_member_title'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertTitled(access.chat.kind)
  const person = parseChatId(named)
  await lockChat(context, { chat: access.chat.id, person }, async (transaction) => {
    const target = await memberOf(transaction.db, access.chat.id, person)
    if (!target) throw unknownMember(access.chat.kind)
    if (target.status === 'creator' && person !== by.person) {
      throw bad('only the owner can edit their custom title')
    }
    if (target.status !== 'administrator' && target.status !== 'creator') {
      throw bad('user is not an administrator')
    }
    if (access.role !== 'owner' && !may(access, 'promote_members')) {
      throw bad('not enough rights to change custom title of the user')
    }
    const change = { title: checked(title, 'CUSTOM_TITLE') }
    await retitleMember(transaction, by, access.chat, person, change)
  })
  return done
}

export async function setMemberTag(
  { context, by }: Call,
  { chat, person: named, tag }: OperationOf<'set_member_tag'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertTitled(access.chat.kind)
  const person = parseChatId(named)
  // Members who may edit their own tag do so without a right.
  const isOwn = person === by.person
  assertMay(access, 'edit tags of members', 'manage_tags', isOwn ? 'edit_tag' : undefined)
  await lockChat(context, { chat: access.chat.id, person }, async (transaction) => {
    const target = await memberOf(transaction.db, access.chat.id, person)
    if (!target || !isInside(target)) throw bad('USER_NOT_PARTICIPANT')
    if (target.status !== 'member' && target.status !== 'restricted') {
      throw bad('USER_IS_ADMINISTRATOR')
    }
    await retitleMember(transaction, by, access.chat, person, { tag: checked(tag, 'TAG') })
  })
  return done
}

function assertTitled(kind: string): void {
  if (kind !== 'group' && kind !== 'supergroup') {
    throw bad('method is available only for groups and supergroups')
  }
}

/** Without line ends and emoji. */
function checked(given: string, word: 'CUSTOM_TITLE' | 'TAG'): string {
  const text = given.replace(/\s+/g, ' ').trim().toWellFormed()
  if ([...text].length > LENGTH) throw bad(`${word}_INVALID`)
  if (/\p{Extended_Pictographic}/u.test(text)) throw bad(`${word}_EMOJI_NOT_ALLOWED`)
  return text
}

export async function banSender(
  call: Call,
  { kind, chat, from }: OperationOf<'ban_sender' | 'unban_sender'>,
): Promise<OperationResult> {
  const { context, by } = call
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  if (access.chat.kind !== 'supergroup' && access.chat.kind !== 'channel') {
    throw bad('method is available for supergroup and channel chats only')
  }
  const [isBan, person] = [kind === 'ban_sender', parseChatId(from)]
  // Somebody who writes in their own name is their own sender.
  if (person > 0 && (isBan || (await memberOf(context.db, access.chat.id, person)))) {
    const target = { chat, person: from }
    return moderate(
      call,
      isBan
        ? { kind: 'ban', ...target, deletesMessages: false }
        : { kind: 'unban', ...target, onlyIfBanned: false },
    )
  }
  assertMay(access, 'restrict/unrestrict chat member', 'restrict_members')
  // Who is unknown is not banned.
  if (person > 0) return done
  const [sender] = await context.db.query<{ id: number }>(
    `select id from sandbox_chat where native = $1 and user_id = $2
       and kind in ('channel', 'supergroup')`,
    [parseChatId(from), context.network],
  )
  if (!sender || sender.id === access.chat.id) throw bad('PARTICIPANT_ID_INVALID')
  await context.db.query(
    kind === 'ban_sender'
      ? 'insert into sandbox_sender_ban (chat_id, sender_id) values ($1, $2) on conflict do nothing'
      : 'delete from sandbox_sender_ban where chat_id = $1 and sender_id = $2',
    [access.chat.id, sender.id],
  )
  return done
}

/** The channel, if any is named, of a person who writes in its name to a supergroup. Rejects where it may not. */
export async function senderOf(
  { db }: NetworkContext,
  person: number,
  { to, channel }: { readonly to: number; readonly channel: number | undefined },
): Promise<Pick<Call, 'sendAs'>> {
  if (channel === undefined) return {}
  const [place, own] = [await accessOf(db, person, to), await accessOf(db, person, channel)]
  const isRight = place.chat.kind === 'supergroup' && own.chat.kind === 'channel'
  if (!isRight || own.role !== 'owner') throw bad('SEND_AS_PEER_INVALID')
  // A ban of one channel is one of all channels of its owner.
  const bans = await db.query(
    `select from sandbox_sender_ban b
     join sandbox_member m on m.chat_id = b.sender_id and m.role = 'owner' and m.person_id = $2
     where b.chat_id = $1`,
    [place.chat.id, person],
  )
  if (bans.length > 0) throw bad('USER_BANNED_IN_CHANNEL')
  return { sendAs: chatOf(own.chat, null) }
}
