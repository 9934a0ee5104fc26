/** Direct messages of channels, and the posts that are suggested in them: answered, published when due, and paid after a day. */
import type { Chat, Content, Message } from '../../../machines/model/content.ts'
import { badRequest } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { type PostFact, STARS, type SuggestedPost } from '../../../machines/model/payment.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf, assertDirectTopic, assertMay, type ChatAccess } from '../chats/access.ts'
import { viewOf } from '../chats/find-message.ts'
import { syncDirectMessages } from '../chats/members.ts'
import { announce, withOutbox } from '../chats/transaction.ts'
import {
  chatOf,
  type MessageAttributes,
  messageOf,
  parseChatId,
  parseMessageId,
} from '../delivery/mapping.ts'
import { holderOf, withFileHolds } from '../files/files.ts'
import type { Call, NetworkContext, Services } from '../network/context.ts'
import { type ChatRow, chatJson } from '../network/rows.ts'
import { prepareContent } from './content.ts'

const DAY = 86_400
const LATEST = 31 * DAY

/** Opens the conversation of a person with a channel, where it is not open yet. */
export async function openDirectMessages(
  { db, network, capacity }: NetworkContext,
  person: number,
  channel: number,
): Promise<Chat> {
  const access = await accessOf(db, person, channel)
  const { id, kind, title } = access.chat
  if (kind !== 'channel') throw badRequest('only channels take direct messages')
  if (access.role !== 'member')
    throw badRequest('administrators of a channel answer its direct messages')
  return db.transaction(async (tx) => {
    await capacity.assertForChat(tx, network)
    await tx.query(
      `with chat as (
         insert into sandbox_chat (kind, native, title, user_id, direct_of, direct_person)
         values ('supergroup', -1000000000000 - nextval('sandbox_group_id'), $1, $2, $3, $4)
         on conflict (direct_of, direct_person) where direct_of is not null do nothing
         returning id
       )
       insert into sandbox_member (chat_id, person_id) select id, $4 from chat`,
      [title, network, id, person],
    )
    await syncDirectMessages(tx, id)
    const [row] = await tx.query<{ chat: ChatRow }>(
      `select ${chatJson('c')} as chat from sandbox_chat c
       where direct_of = $1 and direct_person = $2`,
      [id, person],
    )
    return chatOf(row!.chat, null)
  })
}

/** The extra fields of a message to the direct messages of a channel. Rejects for any other chat. */
export async function suggestionOf(
  { context: { db }, by }: Call,
  native: number,
  { directTopic, suggested }: Pick<OperationOf<'send'>, 'directTopic' | 'suggested'>,
): Promise<Pick<MessageAttributes, 'suggestion'>> {
  const { chat } = await accessOf(db, by.person, native)
  if (!chat.direct) throw badRequest('suggested posts can be sent only to channel direct messages')
  assertDirectTopic(chat, directTopic)
  if (!suggested) return {}
  const { price } = suggested
  if (price && price.currency !== STARS)
    throw badRequest('posts on the sandbox are paid with Stars')
  return { suggestion: { state: 'pending', ...suggested } }
}

interface Suggestion {
  readonly access: ChatAccess
  /** The person who writes to the channel, and pays for the post. */
  readonly payer: number
  readonly post: Message
  readonly terms: SuggestedPost
}

/** Locks the message. Rejects where there is nothing for this person to answer. */
async function pendingIn(
  tx: Queryable,
  person: number,
  ref: { readonly chat: number; readonly message: number },
): Promise<Suggestion> {
  const access = await accessOf(tx, person, ref.chat)
  const payer = access.chat.direct?.id
  if (payer === undefined) throw badRequest('SUGGESTED_POST_PEER_INVALID')
  await tx.query('select from sandbox_message where chat_id = $1 and id = $2 for update', [
    access.chat.id,
    ref.message,
  ])
  const view = await viewOf(tx, person, ref)
  const post = view && answerless(messageOf(view))
  const terms = post?.suggestion
  if (!view || !post || terms?.state !== 'pending') throw badRequest('MESSAGE_ID_INVALID')
  const isByPayer = view.message.sender_id === payer
  if (isByPayer === (person === payer)) throw badRequest("own suggested posts can't be answered")
  return { access, payer, post, terms }
}

async function setState(
  tx: Queryable,
  { access, post, terms }: Suggestion,
  change: Partial<SuggestedPost>,
): Promise<Message> {
  const suggestion = { ...terms, ...change }
  await tx.query(
    `update sandbox_message set version = version + 1,
       attributes = jsonb_set(attributes, '{suggestion}', $3)
     where chat_id = $1 and id = $2`,
    [access.chat.id, Number(post.native), JSON.stringify(suggestion)],
  )
  return { ...post, suggestion }
}

/** A person who writes to the channel has a right to answer what the channel suggests. */
export async function approvePost(
  { context, by }: Call,
  operation: OperationOf<'approve_post'>,
): Promise<OperationResult> {
  const chat = parseChatId(operation.chat)
  const ref = { chat, message: parseMessageId(operation.message, 'approve') }
  const now = Math.floor(context.now() / 1000)
  await withOutbox(context, async (tx, outbox) => {
    const pending = await pendingIn(tx, by.person, ref)
    const { access, payer, post, terms } = pending
    assertMay(access, 'approve suggested posts', 'post_messages', 'send_messages')
    const sendAt = Math.max(now, operation.sendAt ?? terms.sendAt ?? now)
    if (sendAt - now > LATEST) throw badRequest('SCHEDULE_DATE_TOO_LATE')
    const { price } = terms
    if (price && !(await takeStars(tx, payer, price.amount))) {
      await announce({ outbox }, by, chat, { fact: 'post_approval_failed', post, price })
      return
    }
    await tx.query(
      `insert into sandbox_suggested_post (chat_id, message_id, price, publish_at)
       values ($1, $2, $3, to_timestamp($4))`,
      [access.chat.id, ref.message, price?.amount ?? 0, sendAt],
    )
    const approved = await setState(tx, pending, { state: 'approved', sendAt })
    const facts = { fact: 'post_approved' as const, post: approved, sendAt }
    await announce({ outbox }, by, chat, { ...facts, ...(price && { price }) })
  })
  await publishDue(context).catch((error: unknown) => notPublished(context, error))
  return { kind: 'done' }
}

export async function declinePost(
  { context, by }: Call,
  { comment, ...operation }: OperationOf<'decline_post'>,
): Promise<OperationResult> {
  const chat = parseChatId(operation.chat)
  const ref = { chat, message: parseMessageId(operation.message, 'decline') }
  await withOutbox(context, async (tx, outbox) => {
    const pending = await pendingIn(tx, by.person, ref)
    const purpose = 'decline suggested posts'
    assertMay(pending.access, purpose, 'manage_direct_messages', 'send_messages')
    const post = await setState(tx, pending, { state: 'declined' })
    const said = comment?.toWellFormed()
    const facts = { fact: 'post_declined' as const, post, ...(said && { comment: said }) }
    await announce({ outbox }, by, chat, facts)
  })
  return { kind: 'done' }
}

async function takeStars(tx: Queryable, person: number, amount: number): Promise<boolean> {
  const rows = await tx.query(
    'update sandbox_person set stars = stars - $2 where id = $1 and stars >= $2 returning id',
    [person, amount],
  )
  return rows.length > 0
}

const AT_ONCE = 100

interface Due {
  readonly chat: number
  readonly message: number
  readonly network: number
  readonly price: number
  readonly isPublished: boolean
  /** The message with the suggestion, or the post, was deleted. */
  readonly isGone: boolean
  readonly native: number
  readonly channel: number
  readonly owner: number
  readonly payer: number
  readonly content: Content
}

/** Posts to publish, and posts that were deleted or have stood for a day. */
const DUE = `
  select s.chat_id as chat, s.message_id as message, s.price, d.user_id as network,
    d.native, c.native as channel, o.person_id as owner, d.direct_person as payer, m.content,
    s.published_at is not null as "isPublished",
    coalesce(p.deleted_at, case when s.post_id is null then m.deleted_at end) is not null as "isGone"
  from sandbox_suggested_post s
  join sandbox_chat d on d.id = s.chat_id
  join sandbox_chat c on c.id = d.direct_of
  join sandbox_member o on o.chat_id = c.id and o.role = 'owner'
  join sandbox_message m on m.chat_id = s.chat_id and m.id = s.message_id
  left join sandbox_message p on p.chat_id = c.id and p.id = s.post_id
  where s.settled_at is null and (s.publish_at <= to_timestamp($1::float8) and s.published_at is null
    or s.published_at <= to_timestamp($1::float8 - ${DAY})
    or coalesce(p.deleted_at, case when s.post_id is null then m.deleted_at end) is not null)
  order by s.publish_at limit ${AT_ONCE}`

/** Another process may do the same: each post is published and paid once. */
async function publishDue(services: Services): Promise<void> {
  const rows = await services.db.query<Due>(DUE, [services.now() / 1000])
  for (const due of rows) {
    if (due.isGone || due.isPublished) await settle(services, due)
    else await publish(services, due)
  }
}

async function publish(services: Services, due: Due): Promise<void> {
  const { network, owner, channel, price } = due
  const context: NetworkContext = { ...services, network }
  // The same each time, so that the post is sent once.
  const request = `post:${due.chat}:${due.message}`
  const post = await services.capacity.reserve(network, 1, () =>
    withFileHolds(context, [holderOf(owner, request)], async () =>
      services.outbox.send({
        sender: owner,
        native: channel,
        request,
        content: await prepareContent(context, owner, request, due.content),
        ...(price > 0 && { attributes: { isPaidPost: true } }),
      }),
    ),
  )
  await services.db.query(
    `update sandbox_suggested_post set post_id = $3, published_at = to_timestamp($4),
       settled_at = case when price = 0 then to_timestamp($4) end
     where chat_id = $1 and message_id = $2 and post_id is null`,
    [due.chat, due.message, post.native, services.now() / 1000],
  )
}

/** They stay due. */
const notPublished = ({ logger }: Services, error: unknown) =>
  logger.warn({ err: error }, 'the sandbox could not publish suggested posts')

/** The channel's owner gets the Stars, or the payer gets them back. */
async function settle(services: Services, due: Due): Promise<void> {
  const { chat, message, price, isGone, owner, payer, native } = due
  await withOutbox(services, async (tx, outbox) => {
    const rows = await tx.query(
      `update sandbox_suggested_post set settled_at = to_timestamp($3)
       where chat_id = $1 and message_id = $2 and settled_at is null returning price`,
      [chat, message, services.now() / 1000],
    )
    if (rows.length === 0 || price === 0) return
    await tx.query('update sandbox_person set stars = stars + $2 where id = $1', [
      isGone ? payer : owner,
      price,
    ])
    const view = await viewOf(tx, owner, { chat: native, message })
    const about = view && { post: answerless(messageOf(view)) }
    const facts: PostFact<Message> = isGone
      ? { fact: 'post_refunded', ...about, reason: 'post_deleted' }
      : { fact: 'post_paid', ...about, price: { currency: STARS, amount: price } }
    await announce({ outbox }, { person: owner }, native, facts)
  })
}

/** The reference does not repeat what a suggestion answers. */
const answerless = ({ replyTo: _, ...post }: Message): Message => post

const EVERY_MILLISECONDS = 60_000

export class DuePosts {
  readonly #services: Services
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> = Promise.resolve()

  constructor(services: Services) {
    this.#services = services
    this.#timer = setInterval(() => this.publishDue(), EVERY_MILLISECONDS).unref()
  }

  publishDue(): Promise<void> {
    this.#running = this.#running
      .then(() => publishDue(this.#services))
      .catch((error: unknown) => notPublished(this.#services, error))
    return this.#running
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }
}
