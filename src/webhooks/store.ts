/** Stores webhooks: addresses and secrets are sealed, a change is committed together with the key's cursor. */

import type { OwnedKey } from '../../actors/ports/ports.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import {
  common,
  joined,
  openedAs,
  openRuns,
  type Progress,
  type Runs,
  without,
} from '../../machines/webhook/progress.ts'
import type {
  WebhookChange,
  WebhookChanged,
  WebhookFacts,
  WebhookTarget,
} from '../../machines/webhook/terms.ts'
import { forgetReplies } from '../bot-api/idempotency.ts'
import { isOwnedIn } from '../credentials/fence.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { checkReachable, type Reach, shownUrl, webhookUrl } from './address.ts'

/** The columns of a key and its webhook that `openWebhook` reads. */
export const webhookColumns = `w.sealed, w.ip_address, w.max_connections, w.failures, w.failing_since,
  w.gone_since, w.due_at, w.suspended_at, k.webhook_progress`

export interface WebhookRow {
  readonly sealed: Buffer | null
  readonly ip_address: string | null
  readonly max_connections: number
  readonly failures: number
  readonly failing_since: Date | null
  readonly gone_since: Date | null
  readonly due_at: Date | null
  readonly suspended_at: Date | null
  readonly webhook_progress: Progress | null
}

/** The last resend of a webhook. */
export interface Resend {
  /** ISO 8601. */
  readonly at: string
  readonly stoppedAt?: string
  /** The updates that were not sent when it was stopped. */
  readonly left?: Runs
  /** The updates to send. */
  readonly runs: Runs
  /** The updates among them that were delivered before. */
  readonly added: Runs
}

/** The sealed part. */
type Secrets = Pick<WebhookTarget, 'url' | 'secretToken' | 'certificate' | 'headers'>

interface WebhookStoreOptions {
  readonly db: Database
  readonly vault: Vault
  readonly reach: Reach
  /** Writes the buffered cursors and states. */
  flush(): Promise<void>
}

const placeOf = (apiKeyId: number) => ({ table: 'webhook', column: 'sealed', row: apiKeyId })

/** The webhook that a key's actor begins with; undefined where the row has none. */
export async function openWebhook(
  vault: Vault,
  apiKeyId: number,
  row: WebhookRow,
): Promise<WebhookFacts | undefined> {
  if (!row.sealed) return undefined
  const secrets = JSON.parse(
    (await vault.open(placeOf(apiKeyId), row.sealed)).toString(),
  ) as Partial<Secrets> & { readonly url: string }
  return {
    url: secrets.url,
    secretToken: secrets.secretToken,
    certificate: secrets.certificate,
    ...(secrets.headers && { headers: secrets.headers }),
    ipAddress: row.ip_address ?? undefined,
    maxConnections: row.max_connections,
    trouble: row.due_at
      ? {
          failures: row.failures,
          since: (row.failing_since ?? row.due_at).getTime(),
          goneSince: row.gone_since?.getTime(),
          dueAt: row.due_at.getTime(),
        }
      : undefined,
    suspended: row.suspended_at !== null,
    progress: row.webhook_progress ?? undefined,
  }
}

export class WebhookStore {
  readonly #options: WebhookStoreOptions

  constructor(options: WebhookStoreOptions) {
    this.#options = options
  }

  /** `cursor` is the key's current cursor. No delivery may run meanwhile. */
  async change(key: OwnedKey, change: WebhookChange, cursor: number): Promise<WebhookChanged> {
    await this.#options.flush()
    switch (change.kind) {
      case 'set':
        return this.#set(key, change, cursor)
      case 'delete':
        return this.#delete(key, change, cursor)
      case 'replay':
        return this.#replay(key, change.after)
      case 'resend':
      case 'stop resend':
        return this.#resend(key, change, cursor)
    }
  }

  async #set(
    key: OwnedKey,
    { target, dropTo }: Extract<WebhookChange, { kind: 'set' }>,
    cursor: number,
  ): Promise<WebhookChanged> {
    const { vault, reach } = this.#options
    await checkReachable(webhookUrl(target.url), target.ipAddress, reach)
    const { url, secretToken, certificate, headers } = target
    const secrets = Buffer.from(JSON.stringify({ url, secretToken, certificate, headers }))
    const { apiKeyId } = key
    const sealed = await vault.seal(`credential:${key.credentialId}`, placeOf(apiKeyId), secrets)
    return this.#asOwner(key, async (tx) => {
      const [before] = await tx.query<{ resend: Resend | null }>(
        'delete from webhook where api_key_id = $1 returning resend',
        [apiKeyId],
      )
      // Waiting updates go to the new address, so the resend continues there.
      const resend = dropTo === undefined ? before?.resend : undefined
      await tx.query(
        `insert into webhook (api_key_id, sealed, shown_url, ip_address, max_connections,
           has_certificate, resend, header_names, set_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::float8 / 1000))`,
        [
          apiKeyId,
          sealed,
          shownUrl(url),
          target.ipAddress ?? null,
          target.maxConnections,
          certificate !== undefined,
          resend ? JSON.stringify(resend) : null,
          headers?.map(({ name }) => name) ?? [],
          // By the clock of this node, as its attempts have it: that of the database may be ahead of them.
          Date.now(),
        ],
      )
      const progress = await endPolling(tx, apiKeyId, dropTo)
      return {
        webhook: { ...target, trouble: undefined, suspended: false, progress },
        cursor: Math.max(cursor, dropTo ?? 0),
      }
    })
  }

  async #delete(
    key: OwnedKey,
    { dropTo, isGone }: Extract<WebhookChange, { kind: 'delete' }>,
    cursor: number,
  ): Promise<WebhookChanged> {
    const { apiKeyId } = key
    return this.#asOwner(key, async (tx) => {
      const stands = await standing(tx, apiKeyId, cursor)
      // A polling bot does not get the updates that a resend had still to send.
      const kept = stands?.resend && stopped(stands.progress, stands.resend, 1).cursor
      const reached = Math.max(cursor, dropTo ?? 0, kept ?? 0)
      await tx.query(
        isGone
          ? `update webhook set sealed = null, due_at = null, resend = null, last_error_at = to_timestamp($2::float8 / 1000),
                    last_error_message = 'The webhook was removed: it answered 410 Gone for 23 hours'
              where api_key_id = $1`
          : 'delete from webhook where api_key_id = $1',
        isGone ? [apiKeyId, Date.now()] : [apiKeyId],
      )
      await tx.query(
        'update api_key set cursor = greatest(cursor, $2), webhook_progress = null where id = $1',
        [apiKeyId, Math.max(dropTo ?? 0, kept ?? 0)],
      )
      return { webhook: undefined, cursor: reached }
    })
  }

  #replay(key: OwnedKey, after: number): Promise<WebhookChanged> {
    return this.#goOn(key, async () => ({ cursor: after, progress: null, resend: null }))
  }

  #resend(
    key: OwnedKey,
    change: Extract<WebhookChange, { kind: 'resend' | 'stop resend' }>,
    cursor: number,
  ): Promise<WebhookChanged> {
    return this.#goOn(key, async (tx) => {
      const stands = await standing(tx, key.apiKeyId, cursor)
      if (!stands) throw noWebhook()
      const { progress, resend } = stands
      const now = new Date().toISOString()
      if (change.kind === 'stop resend') {
        if (!resend) throw failed('bad_request', 'nothing is being sent again')
        const next = stopped(progress, resend, change.waiting)
        const left = resend.left ?? common(resend.runs, openRuns(progress))
        const ended = { ...resend, stoppedAt: resend.stoppedAt ?? now, left }
        return { cursor: next.cursor, progress: next, resend: ended }
      }
      const next = reopened(progress, resend, change.runs)
      const opened = openedAs(progress, next.open, progress.waiting + change.updates)
      return { cursor: opened.cursor, progress: opened, resend: { at: now, ...next.resend } }
    })
  }

  /** Continues at another place in the log, at once, and forgets earlier failures. */
  async #goOn(
    key: OwnedKey,
    whence: (tx: Queryable) => Promise<{
      readonly cursor: number
      readonly progress: Progress | null
      readonly resend: Resend | null
    }>,
  ): Promise<WebhookChanged> {
    const { apiKeyId } = key
    return this.#asOwner(key, async (tx) => {
      const { cursor, progress, resend } = await whence(tx)
      const waits = progress && progress.open.length > 0
      await forgetReplies(tx, apiKeyId)
      await tx.query(
        `update webhook set suspended_at = null, failures = 0, failing_since = null,
                gone_since = null, due_at = null, resend = $2 where api_key_id = $1`,
        [apiKeyId, resend && JSON.stringify(resend)],
      )
      await tx.query('update api_key set cursor = $2, webhook_progress = $3 where id = $1', [
        apiKeyId,
        cursor,
        waits ? JSON.stringify(progress) : null,
      ])
      const [row] = await tx.query<WebhookRow>(
        `select ${webhookColumns} from webhook w join api_key k on k.id = w.api_key_id
          where w.api_key_id = $1`,
        [apiKeyId],
      )
      const webhook = row && (await openWebhook(this.#options.vault, apiKeyId, row))
      if (!webhook) throw noWebhook()
      return { webhook, cursor }
    })
  }

  /** Locks the ownership of the credential until the commit. Rejects with `OwnershipLost`. */
  #asOwner<Result>(key: OwnedKey, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
    return this.#options.db.transaction(async (tx) => {
      if (!(await isOwnedIn(tx, key))) throw new OwnershipLost()
      return work(tx)
    })
  }
}

const noWebhook = () => failed('bad_request', 'the key has no webhook')

interface Standing {
  readonly progress: Progress
  readonly resend: Resend | null
}

/** How far a key has got; undefined without a webhook. */
async function standing(
  tx: Queryable,
  apiKeyId: number,
  cursor: number,
): Promise<Standing | undefined> {
  const [row] = await tx.query<{ progress: Progress | null; at: number; resend: Resend | null }>(
    `select k.webhook_progress as progress, greatest(k.cursor, $2) as at, w.resend
       from webhook w join api_key k on k.id = w.api_key_id where w.api_key_id = $1`,
    [apiKeyId, cursor],
  )
  if (!row) return undefined
  const { progress, at, resend } = row
  return { progress: progress ?? { cursor: at, head: at, waiting: 0, open: [] }, resend }
}

/** Only what was delivered before is taken back; `waiting` others are left. */
function stopped(progress: Progress, { added, stoppedAt }: Resend, waiting: number): Progress {
  if (stoppedAt !== undefined) return progress
  return openedAs(progress, without(openRuns(progress), added), Math.max(1, waiting))
}

/** Opens runs again up to the head: what follows it is delivered anyway. A resend that is under way goes on with them. */
function reopened(progress: Progress, before: Resend | null, wanted: Runs) {
  const open = openRuns(progress)
  const rest = before && before.stoppedAt === undefined ? common(before.added, open) : []
  const runs = common(wanted, [[1, progress.head]])
  return {
    open: joined(open, runs),
    resend: {
      runs: before && rest.length > 0 ? joined(before.runs, runs) : runs,
      added: joined(rest, without(runs, open)),
    },
  }
}

/** Ends polling, and drops everything up to this id. Without an id the progress stays, and is returned. */
async function endPolling(
  tx: Queryable,
  apiKeyId: number,
  dropTo: number | undefined,
): Promise<Progress | undefined> {
  const [row] = await tx.query<{ webhook_progress: Progress | null }>(
    `update api_key
        set cursor = greatest(cursor, $2), polled_at = null,
            webhook_progress = case when $2::bigint is null then webhook_progress end
      where id = $1 returning webhook_progress`,
    [apiKeyId, dropTo ?? null],
  )
  return row?.webhook_progress ?? undefined
}
