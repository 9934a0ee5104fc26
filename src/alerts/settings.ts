/** The alert settings of a user: which incidents, and over which channels. Addresses and secrets are sealed. */
import { createHash } from 'node:crypto'
import { holdUser } from '../accounts/users.ts'
import { noteChange } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { newSigningSecret, OVERLAP_MS, type SigningSecret } from '../webhooks/secrets.ts'
import { CHANNELS, type Channel, dropChannels } from './outbox.ts'
import { USUAL_BACKLOG_MINUTES } from './rules.ts'

/** A shorter outage makes no incident, because networks often fail for moments. */
export const USUAL_MINUTES = 5

/** The channels of a user. */
export interface Targets {
  readonly webhook?: { readonly url: string; readonly signing: SigningSecret }
  readonly chat?: { readonly apiKeyId: number; readonly chatId: string }
  readonly email?: string
}

export interface AlertSettings {
  readonly minutes: number
  /** How long a bot may be behind. */
  readonly backlogMinutes: number
  readonly targets: Targets
}

interface Row {
  readonly minutes: number
  readonly backlog_minutes: number
  readonly sealed: Buffer | null
  /** Each change has another one. */
  readonly changed: string
}

const usual: AlertSettings = {
  minutes: USUAL_MINUTES,
  backlogMinutes: USUAL_BACKLOG_MINUTES,
  targets: {},
}

/** Names what the owner has set: another secret leaves it as it was. */
export function versionOf({ minutes, backlogMinutes, targets }: AlertSettings): string {
  const { webhook, chat, email } = targets
  const set = [minutes, backlogMinutes, webhook?.url, chat?.apiKeyId, chat?.chatId, email]
  return createHash('sha256').update(JSON.stringify(set)).digest('base64url').slice(0, 22)
}

const placeOf = (userId: number) => ({ table: 'alert_setting', column: 'sealed', row: userId })

export class AlertSettingsStore {
  readonly #db: Database
  readonly #vault: Vault

  constructor(db: Database, vault: Vault) {
    this.#db = db
    this.#vault = vault
  }

  async find(userId: number): Promise<AlertSettings> {
    return (await this.#read(userId)).settings
  }

  /**
   * Resolves with the new settings. `next` gets the current ones, and is called again where another change came first. Drops
   * waiting notifications for a removed target.
   */
  async change(
    userId: number,
    next: (before: AlertSettings) => AlertSettings | Promise<AlertSettings>,
  ): Promise<AlertSettings> {
    for (;;) {
      const { settings: before, changed } = await this.#read(userId)
      const settings = await next(before)
      if (await this.#save(userId, settings, changed)) return settings
    }
  }

  async #read(userId: number): Promise<{ settings: AlertSettings; changed: string | undefined }> {
    const [row] = await this.#db.query<Row>(
      `select minutes, backlog_minutes, sealed, (updated_at at time zone 'UTC')::text as changed
       from alert_setting where user_id = $1`,
      [userId],
    )
    if (!row) return { settings: usual, changed: undefined }
    const { minutes, backlog_minutes: backlogMinutes, sealed, changed } = row
    const targets = sealed ? await this.#opened(userId, sealed) : {}
    return { settings: { minutes, backlogMinutes, targets }, changed }
  }

  /** False where they were changed since. */
  async #save(
    userId: number,
    { minutes, backlogMinutes, targets }: AlertSettings,
    since: string | undefined,
  ): Promise<boolean> {
    const text = Buffer.from(JSON.stringify(targets))
    const sealed = await this.#vault.seal(`user:${userId}`, placeOf(userId), text)
    const channels = channelsOf(targets)
    return this.#db.transaction(async (tx) => {
      await holdUser(tx, userId)
      const saved = await tx.query(
        `insert into alert_setting (user_id, minutes, channels, api_key_id, sealed, backlog_minutes)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (user_id) do update
           set minutes = $2, channels = $3, api_key_id = $4, sealed = $5, backlog_minutes = $6,
               updated_at = greatest(now(), alert_setting.updated_at + interval '1 microsecond')
           where (alert_setting.updated_at at time zone 'UTC')::text = $7
         returning user_id`,
        [
          ...[userId, minutes, channels, targets.chat?.apiKeyId ?? null],
          ...[sealed, backlogMinutes, since ?? null],
        ],
      )
      if (saved.length === 0) return false
      await dropChannels(tx, userId, channels)
      await noteChange(tx, { after: { minutes, backlog_minutes: backlogMinutes, channels } })
      return true
    })
  }

  async #opened(userId: number, sealed: Buffer): Promise<Targets> {
    return JSON.parse((await this.#vault.open(placeOf(userId), sealed)).toString())
  }
}

const channelsOf = (targets: Targets): Channel[] =>
  CHANNELS.filter((channel) => targets[channel] !== undefined)

/** The secret of before, or the first one. */
export const signingOf = ({ webhook }: Targets, now: number): SigningSecret =>
  webhook?.signing ?? { secret: newSigningSecret(), createdAt: now }

/** The secret before signs along for a day. */
export const rotated = ({ secret }: SigningSecret, now: number): SigningSecret => ({
  secret: newSigningSecret(),
  createdAt: now,
  previous: { secret, until: now + OVERLAP_MS },
})
