/** Who reaches the account of another user by a share of it, and who still does: what every access is judged by. */
import { failed } from '../../machines/model/failure.ts'
import { phonePlaceOf } from '../accounts/users.ts'
import type { Queryable } from '../database/database.ts'
import type { Bus } from '../nodes/bus.ts'
import type { ShareRecord } from '../records/account.ts'
import { maskPhone } from '../security/redact.ts'
import type { Vault } from '../security/vault.ts'

export type ShareRole = ShareRecord['role']

/** A share that was accepted, as an access is judged by it. */
export interface HeldShare {
  readonly shareId: number
  readonly ownerId: number
  readonly credentialId: number
  readonly role: ShareRole
}

const held = `
  select s.id as "shareId", s.owner_id as "ownerId", s.credential_id as "credentialId", s.role
    from account_share s
    join credential c on c.id = s.credential_id and c.user_id = s.owner_id and c.deleting_at is null
    join app_user o on o.id = s.owner_id and o.erasing_at is null`
const statements = {
  account: `${held} where s.user_id = $1 and s.credential_id = $2`,
  key: `${held} join api_key k on k.credential_id = s.credential_id and k.user_id = s.owner_id
         where s.user_id = $1 and k.id = $2`,
  id: `${held} where s.user_id = $1 and s.id = $2`,
}

interface Watcher {
  readonly userId: number
  readonly share: HeldShare
  over(): void
}

interface HeldSharesOptions {
  readonly db: Queryable
  readonly vault: Pick<Vault, 'open'>
  readonly bus: Pick<Bus, 'tell' | 'on' | 'onGap'>
}

export class HeldShares {
  readonly #options: HeldSharesOptions
  readonly #watching = new Set<Watcher>()

  constructor(options: HeldSharesOptions) {
    this.#options = options
    options.bus.on('shares', (credentialId) => this.#look(Number(credentialId)))
    options.bus.onGap(() => this.#judge([...this.#watching]))
  }

  /** By what share this user reaches the account, or that of the key; undefined: by none. */
  async heldBy(
    userId: number,
    kind: 'account' | 'key',
    id: number,
  ): Promise<HeldShare | undefined> {
    const named = { name: `share-of-${kind}`, text: statements[kind] }
    const [found] = await this.#options.db.query<HeldShare>(named, [userId, id])
    return found
  }

  /** Whether the share is still there, whatever it allows by now: what goes on for longer only reads. */
  async holds(userId: number, { shareId }: HeldShare): Promise<boolean> {
    const named = { name: 'share', text: statements.id }
    return (await this.#options.db.query(named, [userId, shareId])).length > 0
  }

  /** Calls `over` soon after the share has ended, at whatever node; returns how to stop. */
  watch(userId: number, share: HeldShare, over: () => void): () => void {
    const watcher = { userId, share, over }
    this.#watching.add(watcher)
    // It may have ended since the request was let in.
    this.#judge([watcher])
    return () => {
      this.#watching.delete(watcher)
    }
  }

  /** Of the owner, as others see them. */
  async ownerOf({ ownerId }: HeldShare): Promise<{ readonly phone: string }> {
    const [row] = await this.#options.db.query<{ phone_sealed: Buffer }>(
      'select phone_sealed from app_user where id = $1',
      [ownerId],
    )
    if (!row) throw failed('not_found')
    const phone = await this.#options.vault.open(phonePlaceOf(ownerId), row.phone_sealed)
    return { phone: maskPhone(phone.toString()) }
  }

  /** A share of this account ended, or allows something else: streams that it allowed are judged anew at every node. */
  changed(credentialId: number): void {
    this.#look(credentialId)
    this.#options.bus.tell('shares', credentialId)
  }

  #look(credentialId: number): void {
    this.#judge([...this.#watching].filter(({ share }) => share.credentialId === credentialId))
  }

  /** Where it cannot be read, it is over: who comes again is let in anew. */
  #judge(watchers: readonly Watcher[]): void {
    for (const watcher of watchers) {
      this.holds(watcher.userId, watcher.share).then(
        (stands) => !stands && watcher.over(),
        () => watcher.over(),
      )
    }
  }
}
