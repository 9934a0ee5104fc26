/** Pages that link accounts again, made for many at once: the flow begins only when the reader of a page wants it. */
import type { AccountIdentity, LinkField, Platform } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import { type IdentityRow, identityColumns } from '../credentials/identity.ts'
import type { Database } from '../database/database.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'

const LIVES_HOURS = 72
/** Two clicks, or two readers, begin one flow. */
const BEGINS_EVERY_SECONDS = 20

interface RelinkPagesOptions {
  readonly db: Database
  readonly vault: Vault
  readonly platforms: ReadonlyMap<string, Platform>
  identity(row: IdentityRow): Promise<AccountIdentity | undefined>
}

interface Place {
  readonly actionId: number
  readonly position: number
}

/** The part of a link that is known without asking the owner of the account. */
interface Filled {
  readonly method: string
  /** Values of fields of the method, by their names. */
  readonly known: Readonly<Record<string, string>>
  /** The fields that the reader gives. */
  readonly asks: readonly LinkField[]
  /** Only for a bot, whose name is public. */
  readonly username: string | undefined
}

/** An opened page. */
export interface RelinkPage extends Place, Filled {
  readonly userId: number
  readonly credentialId: number
  readonly platform: string
  /** The flow that it began last. */
  readonly sessionId: string | undefined
  readonly expiresInSeconds: number
}

/** A page as its user sees it. */
export interface MadePage {
  readonly position: number
  readonly credentialId: number
  readonly state: 'ready' | 'begun' | 'linked' | 'expired'
  /** Undefined once it opens nothing any more. */
  readonly token: string | undefined
  readonly expiresAt: Date
}

interface PageRow {
  readonly actionId: number
  readonly position: number
  readonly userId: number
  readonly credentialId: number
  readonly platform: string
  readonly sessionId: string | null
  readonly expiresInSeconds: number
}

type MadeRow = Omit<MadePage, 'token'> & { readonly sealed: Buffer }

const placeOf = ({ actionId, position }: Place) => ({
  table: 'relink_page',
  column: 'sealed',
  row: `${actionId}:${position}`,
})

export class RelinkPages {
  readonly #options: RelinkPagesOptions

  constructor(options: RelinkPagesOptions) {
    this.#options = options
  }

  /**
   * Makes the page of an account of an action; a repetition makes no second page. Rejects if a link needs something
   * that is neither known nor a secret of its owner.
   */
  async make({ actionId, position }: Place, credentialId: number): Promise<void> {
    const { db, vault } = this.#options
    const [row] = await db.query<{ userId: number; platform: string }>(
      `select c.user_id as "userId", c.platform from credential c
         join bulk_action a on a.id = $2 and a.user_id = c.user_id
        where c.id = $1 and c.deleting_at is null and c.deactivated_at is null`,
      [credentialId, actionId],
    )
    if (!row) throw failed('not_found')
    await this.#filledIn(credentialId, row)
    const token = newToken('lnk')
    const place = placeOf({ actionId, position })
    const sealed = await vault.seal(`user:${row.userId}`, place, Buffer.from(token))
    await db.query(
      `insert into relink_page (action_id, position, user_id, credential_id, platform, hash, sealed, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, now() + interval '${LIVES_HOURS} hours')
       on conflict (action_id, position) do nothing`,
      [actionId, position, row.userId, credentialId, row.platform, hashSecret(token), sealed],
    )
  }

  /** Rejects with `not_found` for every wrong token, and once its time is over or its account is gone. */
  async find(token: string): Promise<RelinkPage> {
    if (!isToken('lnk', token)) throw failed('not_found')
    const [row] = await this.#options.db.query<PageRow>(
      `select p.action_id as "actionId", p.position, p.user_id as "userId",
              p.credential_id as "credentialId", p.platform, p.session_id as "sessionId",
              ceil(extract(epoch from p.expires_at - now()))::int as "expiresInSeconds"
         from relink_page p
         join credential c on c.id = p.credential_id and c.deleting_at is null and c.deactivated_at is null
        where p.hash = $1 and p.expires_at > now()`,
      [hashSecret(token)],
    )
    if (!row) throw failed('not_found')
    const filled = await this.#filledIn(row.credentialId, row)
    return { ...row, ...filled, sessionId: row.sessionId ?? undefined }
  }

  /** Rejects while another reader begins its flow. */
  async claim({ actionId, position }: RelinkPage): Promise<void> {
    const claimed = await this.#options.db.query(
      `update relink_page set begun_at = now()
        where action_id = $1 and position = $2
          and (begun_at is null or begun_at < now() - interval '${BEGINS_EVERY_SECONDS} seconds')
       returning 1`,
      [actionId, position],
    )
    if (claimed.length > 0) return
    throw failed('rate_limited', '', { retryAfterSeconds: BEGINS_EVERY_SECONDS })
  }

  /** The link was refused before anything was sent, so another try may follow at once. */
  async release({ actionId, position }: RelinkPage): Promise<void> {
    await this.#options.db.query(
      'update relink_page set begun_at = null where action_id = $1 and position = $2',
      [actionId, position],
    )
  }

  async began({ actionId, position }: RelinkPage, sessionId: string): Promise<void> {
    await this.#options.db.query(
      'update relink_page set session_id = $3 where action_id = $1 and position = $2',
      [actionId, position, sessionId],
    )
  }

  /** Pages of one action of this user, the last first, at positions below `before`. */
  async list(
    { userId, id }: { readonly userId: number; readonly id: number },
    { before, limit }: { readonly before: number | undefined; readonly limit: number },
  ): Promise<MadePage[]> {
    const rows = await this.#options.db.query<MadeRow>(
      `select p.position, p.credential_id as "credentialId", p.sealed, p.expires_at as "expiresAt",
              case when s.state = 'linked' then 'linked' when p.expires_at <= now() then 'expired'
                   when s.state in ('code_sent', 'password_needed', 'waiting') and s.expires_at > now()
                   then 'begun' else 'ready' end as state
         from relink_page p left join link_session s on s.id = p.session_id
        where p.user_id = $1 and p.action_id = $2 and ($3::bigint is null or p.position < $3)
        order by p.position desc limit $4`,
      [userId, id, before ?? null, limit],
    )
    return Promise.all(
      rows.map(async ({ sealed, ...row }) => {
        const isLive = row.state === 'ready' || row.state === 'begun'
        const place = placeOf({ actionId: id, position: row.position })
        const token = isLive
          ? (await this.#options.vault.open(place, sealed)).toString()
          : undefined
        return { ...row, token }
      }),
    )
  }

  /** The first link method of which all that it needs is known, or a secret that only the owner has. */
  async #filledIn(
    credentialId: number,
    { userId, platform }: { readonly userId: number; readonly platform: string },
  ): Promise<Filled> {
    const { db, platforms, identity } = this.#options
    const network = platforms.get(platform)
    if (!network || network.unavailable !== undefined) {
      throw failed('bad_request', 'the platform is not set up', { reason: 'not_configured' })
    }
    const [row] = await db.query<IdentityRow>(
      `select ${identityColumns} from credential where id = $1 and user_id = $2`,
      [credentialId, userId],
    )
    const account = row && (await identity(row))
    const values = valuesOf(account)
    for (const { method, fields } of network.linkMethods) {
      const needed = fields.filter(({ required }) => required)
      if (!needed.every(({ name, secret }) => name in values || secret)) continue
      // Without a field it would be a code to scan, which a page made beforehand does not have.
      if (needed.length === 0) continue
      const known = Object.entries(values).filter(([name]) => fields.some((f) => f.name === name))
      const asks = fields.filter(({ name }) => !(name in values))
      const username = known.length === 0 ? account?.username : undefined
      return { method, known: Object.fromEntries(known), asks, username }
    }
    throw failed('bad_request', 'the identifier of the account is not known', {
      reason: 'unknown_identifier',
    })
  }
}

const ADDRESS = /^[^\s@/]+@[^\s@/]+$/

/** Values of link fields that an account tells. */
function valuesOf(account: AccountIdentity | undefined): Readonly<Record<string, string>> {
  const { phone = '', native = '' } = account ?? {}
  const digits = phone.replace(/\D/g, '')
  return {
    ...(digits !== '' && { phone: `+${digits}` }),
    ...(ADDRESS.test(native) && { jid: native }),
  }
}

/** Pages are deleted a week after their expiry, so that their user can see the outcome. */
export async function forgetRelinkPages(db: Database): Promise<void> {
  await db.query(`delete from relink_page where expires_at < now() - interval '7 days'`)
}
