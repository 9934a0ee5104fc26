/** How often linking may be started: each start sends a code or tries a password at a network that is not ours. */
import { createHmac } from 'node:crypto'
import type { Rate } from '../accounts/limits.ts'
import { useQuota } from '../accounts/quota.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'

export interface LinkLimits {
  /** By phone, address or bot, whoever asks. */
  readonly perTarget: Rate
  readonly perUser: Rate
  readonly inAll: Rate
}

export interface LinkStart {
  readonly userId: number
  readonly platform: string
  readonly fields: Readonly<Record<string, string>>
}

/** The sandbox is the user's own: it sends nothing to anybody. */
const OWN = 'sandbox'

/** What is tried, in one spelling: a bot by its number, an address without its resource. */
function targetOf({ platform, fields }: LinkStart): string | undefined {
  const { phone, jid, token } = fields
  if (phone !== undefined) return `${platform} ${phone.replace(/\D/g, '')}`
  if (jid !== undefined) return `${platform} ${jid.toLowerCase().split('/')[0]?.trim()}`
  return token === undefined ? undefined : `${platform} ${token.trim().split(':')[0]}`
}

/** Resolves when one more may be started; a refused one counts nowhere. */
export type AdmitLink = (start: LinkStart) => Promise<void>

export function limitLinks(
  db: Database,
  vault: Pick<Vault, 'derive'>,
  { perTarget, perUser, inAll }: LinkLimits,
  clock = () => new Date(),
): AdmitLink {
  const key = vault.derive('link-target')
  return async (start) => {
    if (start.platform === OWN) return
    const target = targetOf(start)
    const now = clock()
    await db.transaction(async (tx) => {
      if (target !== undefined) {
        const name = createHmac('sha256', key).update(target).digest('base64url')
        await useQuota(tx, `link:target:${name}`, perTarget, now)
      }
      await useQuota(tx, `link:user:${start.userId}`, perUser, now)
      await useQuota(tx, 'link:all', inAll, now)
    })
  }
}
