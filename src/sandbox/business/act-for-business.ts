/** An account acts for a business: with the owner's rights that the connection gives it, in their private chats. */
import type { BusinessConnection, BusinessRight } from '../../../machines/model/business.ts'
import type { Message } from '../../../machines/model/content.ts'
import { badRequest, messageNotFound } from '../../../machines/model/failure.ts'
import type {
  Operation,
  OperationKind,
  OperationOf,
  OperationResult,
} from '../../../machines/model/operation.ts'
import { parseChatId } from '../delivery/mapping.ts'
import type { Call } from '../network/context.ts'
import { connectionFor } from './connections.ts'

const RIGHTS: Partial<Record<OperationKind, BusinessRight>> = {
  send: 'reply',
  send_album: 'reply',
  act: 'reply',
  edit: 'reply',
  edit_caption: 'reply',
  edit_buttons: 'reply',
  edit_location: 'reply',
  stop_poll: 'reply',
  pin: 'reply',
  unpin: 'reply',
  mark_read: 'read_messages',
  delete_for_business: 'delete_sent_messages',
  set_name: 'edit_name',
  set_about: 'edit_bio',
  set_profile_photo: 'edit_profile_photo',
  set_username: 'edit_username',
  set_gift_settings: 'change_gift_settings',
  owned_gifts: 'view_gifts_and_stars',
  star_balance: 'view_gifts_and_stars',
  convert_gift: 'convert_gifts_to_stars',
  upgrade_gift: 'transfer_and_upgrade_gifts',
  transfer_gift: 'transfer_and_upgrade_gifts',
  transfer_stars: 'transfer_stars',
  post_story: 'manage_stories',
  edit_story: 'manage_stories',
  delete_story: 'manage_stories',
  repost_story: 'manage_stories',
}

/** `run` carries out an operation of a person. */
export async function actForBusiness(
  call: Call,
  { connection: id, operation }: OperationOf<'for_business'>,
  run: (call: Call, operation: Operation) => Promise<OperationResult>,
): Promise<OperationResult> {
  const { context, by } = call
  const connection = await connectionFor(context.db, by.person, id)
  if (operation.kind === 'business_connection') return { kind: 'business', connection }
  assertAllowed(connection, operation)
  const owner = Number(connection.person.native)
  const asOwner = {
    ...call,
    by: { person: owner },
    business: { connection: id, account: by.person },
  }
  const result = await run(asOwner, operation)
  if (result.kind === 'message') return { kind: 'message', message: marked(result.message, id) }
  if (result.kind !== 'messages') return result
  return { kind: 'messages', messages: result.messages.map((message) => marked(message, id)) }
}

const marked = (message: Message, business: string): Message => ({ ...message, business })

function assertAllowed(connection: BusinessConnection, operation: Operation): void {
  if (!connection.isEnabled) throw badRequest('BUSINESS_CONNECTION_INVALID')
  const right = RIGHTS[operation.kind]
  if (!right) throw badRequest('BUSINESS_CONNECTION_NOT_ALLOWED')
  const rights: readonly BusinessRight[] = connection.rights
  const mayDeleteAll = right === 'delete_sent_messages' && rights.includes('delete_all_messages')
  if (!rights.includes(right) && !mayDeleteAll) throw badRequest('BOT_ACCESS_FORBIDDEN')
  const isElsewhere = 'chat' in operation && operation.chat !== undefined && right === 'reply'
  // The account acts in private chats alone.
  if (isElsewhere && parseChatId(String(operation.chat)) <= 0)
    throw badRequest('BUSINESS_PEER_INVALID')
}

/** The messages stand in one private chat of the owner: the newest that has all of them. */
export async function deleteForBusiness(
  call: Call,
  { messages }: OperationOf<'delete_for_business'>,
  run: (call: Call, operation: Operation) => Promise<OperationResult>,
): Promise<OperationResult> {
  const { context, by, business } = call
  const [chat] = await context.db.query<{ other: number; areOwn: boolean }>(
    `select case when c.low_id = $1 then c.high_id else c.low_id end as other,
       bool_and(m.sender_id = $1) as "areOwn"
     from sandbox_chat c join sandbox_message m on m.chat_id = c.id
     where $1 in (c.low_id, c.high_id) and m.id = any($2) and m.deleted_at is null
     group by c.id having count(*) = $3 order by max(m.at) desc limit 1`,
    [by.person, messages.map(Number), new Set(messages).size],
  )
  if (!chat || !business) throw messageNotFound('message to delete')
  const { rights } = await connectionFor(context.db, business.account, business.connection)
  if (!chat.areOwn && !rights.includes('delete_all_messages'))
    throw badRequest('BOT_ACCESS_FORBIDDEN')
  for (const message of messages) {
    await run(
      { ...call, request: crypto.randomUUID() },
      {
        kind: 'delete',
        chat: String(chat.other),
        message: String(message),
      },
    )
  }
  return { kind: 'done' }
}
