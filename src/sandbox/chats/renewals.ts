/** Renews subscriptions to channels when their time is over: the member pays for the next period, or leaves. */
import type { Services } from '../network/context.ts'
import { inviteBy } from './invites.ts'
import { type ChatKey, changeMember } from './members.ts'
import { beginSubscription, charge } from './subscriptions.ts'
import { lockChat } from './transaction.ts'

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
