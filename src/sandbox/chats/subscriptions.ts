/** Subscriptions to channels: invite links that cost Stars, and payments for each further period, without which a member leaves. */
import { randomBytes } from 'node:crypto'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { INVITE_ADDRESS } from '../delivery/event-page.ts'
import { parseChatId } from '../delivery/mapping.ts'
import type { Call, Services } from '../network/context.ts'
import { accessOf, assertMay } from './access.ts'
import { found, inviteBy, returning, type StoredInvite } from './invites.ts'
import { type ChatKey, changeMember } from './members.ts'
import { lockChat } from './transaction.ts'

/** The only period that the reference takes: thirty days. */
const PERIOD = 2_592_000
const MOST_STARS = 10_000

const bad = (description: string) => failed('bad_request', description)

export async function makeSubscriptionInvite(
  { context: { db }, by }: Call,
  { chat, name, seconds, stars }: OperationOf<'subscription_invite'>,
): Promise<OperationResult> {
  const access = await accessOf(db, by.person, parseChatId(chat))
  if (access.chat.kind === 'private') throw bad("can't invite members to a private chat")
  if (access.chat.kind !== 'channel') throw bad('PRICING_CHAT_INVALID')
  assertMay(access, 'manage chat invite link', 'invite_users')
  if (seconds !== PERIOD) throw bad('SUBSCRIPTION_PERIOD_INVALID')
  if (stars < 1 || stars > MOST_STARS) throw bad('STARS_AMOUNT_INVALID')
  const link = `${INVITE_ADDRESS}${randomBytes(12).toString('base64url')}`
  const rows = await db.query<StoredInvite>(
    returning(`insert into sandbox_invite (link, chat_id, name, needs_approval, creator_id,
        is_primary, subscription_seconds, subscription_stars)
      values ($1, $2, $3, false, $4, false, $5, $6) returning *`),
    [link, access.chat.id, name || null, by.person, seconds, stars],
  )
  return found(rows)
}

/** Only the name can be changed. */
export async function editSubscriptionInvite(
  { context: { db }, by }: Call,
  { chat, link, name }: OperationOf<'edit_subscription_invite'>,
): Promise<OperationResult> {
  const access = await accessOf(db, by.person, parseChatId(chat))
  assertMay(access, 'manage chat invite link', 'invite_users')
  const rows = await db.query<StoredInvite>(
    returning(`update sandbox_invite set name = $3
      where link = $1 and chat_id = $2 and subscription_stars is not null and not is_revoked
        and (creator_id = $4 or $5) returning *`),
    [link, access.chat.id, name || null, by.person, access.role === 'owner'],
  )
  return found(rows)
}

/** Rejects where the person has too few Stars. */
export async function paySubscription(
  db: Queryable,
  person: number,
  invite: StoredInvite,
): Promise<void> {
  if (!(await charge(db, person, invite))) throw bad('BALANCE_TOO_LOW')
}

/** Whether the person had the Stars for one period. The maker of the link gets them. */
async function charge(
  db: Queryable,
  person: number,
  { subscription_stars: stars, creator }: StoredInvite,
): Promise<boolean> {
  if (stars === null) return true
  const paid = await db.query(
    'update sandbox_person set stars = stars - $2 where id = $1 and stars >= $2 returning id',
    [person, stars],
  )
  if (paid.length === 0) return false
  await db.query('update sandbox_person set stars = stars + $2 where id = $1', [creator.id, stars])
  return true
}

/** `now` is Unix time in milliseconds. */
export async function beginSubscription(
  db: Queryable,
  chat: number,
  person: number,
  { subscription_seconds: seconds }: StoredInvite,
  now: number,
): Promise<void> {
  if (seconds === null) return
  await db.query(
    `update sandbox_member set subscribed_until = to_timestamp($4) + make_interval(secs => $3)
     where chat_id = $1 and person_id = $2`,
    [chat, person, seconds, now / 1000],
  )
}

const EVERY_MILLISECONDS = 60_000
const AT_ONCE = 100

type Needed = Pick<Services, 'db' | 'outbox' | 'wake' | 'now' | 'logger'>

interface Due extends ChatKey {
  readonly person: number
}

const due = `
  select c.id, c.native, c.kind, m.person_id as person
  from sandbox_member m join sandbox_chat c on c.id = m.chat_id
  where m.subscribed_until <= to_timestamp($1) and m.role = 'member'
  order by m.subscribed_until limit ${AT_ONCE}`

export class DueSubscriptions {
  readonly #services: Needed
  readonly #timer: NodeJS.Timeout
  #renewing: Promise<void> = Promise.resolve()

  constructor(services: Needed) {
    this.#services = services
    this.#timer = setInterval(() => this.renewDue(), EVERY_MILLISECONDS).unref()
  }

  /** Another process may do the same: each subscription is renewed once. */
  renewDue(): Promise<void> {
    this.#renewing = this.#renewing.then(() => this.#renewAll())
    return this.#renewing
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
  }

  async #renewAll(): Promise<void> {
    const { db, logger, now } = this.#services
    try {
      let found = AT_ONCE
      while (found === AT_ONCE) {
        const rows = await db.query<Due>(due, [now() / 1000])
        for (const one of rows) await this.#renew(one)
        found = rows.length
      }
    } catch (error) {
      logger.warn({ err: error }, 'the sandbox could not renew its subscriptions')
    }
  }

  async #renew({ person, ...chat }: Due): Promise<void> {
    await lockChat(this.#services, { chat: chat.id, person }, async (transaction) => {
      const { db } = transaction
      const [still] = await db.query<{ readonly link: string | null }>(
        `select link from sandbox_member where chat_id = $1 and person_id = $2
           and role = 'member' and subscribed_until <= to_timestamp($3) for update`,
        [chat.id, person, this.#services.now() / 1000],
      )
      if (!still) return
      const invite = still.link === null ? undefined : await inviteBy(db, still.link)
      if (invite && (await charge(db, person, invite))) {
        return beginSubscription(db, chat.id, person, invite, this.#services.now())
      }
      await db.query(
        'update sandbox_member set subscribed_until = null where chat_id = $1 and person_id = $2',
        [chat.id, person],
      )
      await changeMember(transaction, { person }, chat, person, { role: 'left' })
    })
  }
}
