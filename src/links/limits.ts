/** Limits link attempts: each start and each new code sends something to a person on another network. */
import { createHmac } from 'node:crypto'
import { useQuota, type WindowLimit } from '../accounts/limits.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'

export interface LinkLimits {
  /** By phone, address or bot, for all users together. */
  readonly perTarget: WindowLimit
  readonly perUser: WindowLimit
  readonly inAll: WindowLimit
}

interface LinkStart {
  readonly userId: number
  readonly platform: string
  readonly fields: Readonly<Record<string, string>>
}

/** The sandbox belongs to the user and sends nothing outside. */
const OWN = 'sandbox'

/** One more code for a flow that was begun. */
interface LinkResend {
  readonly userId: number
  readonly platform: string
  /** Stands for what is tried without naming it. */
  readonly target: string | undefined
}

/** The target in one spelling: a bot by its number, an address without its resource. */
function spelt({ platform, fields }: LinkStart): string | undefined {
  const { phone, jid, token } = fields
  if (phone !== undefined) return `${platform} ${phone.replace(/\D/g, '')}`
  if (jid !== undefined)
    return `${platform} ${jid.split('/')[0]?.normalize('NFKC').toLowerCase().trim()}`
  return token === undefined ? undefined : `${platform} ${token.trim().split(':')[0]}`
}

/** Both resolve when one more may be; a refused one counts nowhere. */
export interface LinkGate {
  /** Resolves with what stands for the target. */
  start(start: LinkStart): Promise<string | undefined>
  resend(resend: LinkResend): Promise<void>
}

export function limitLinks(
  db: Database,
  vault: Pick<Vault, 'derive'>,
  { perTarget, perUser, inAll }: LinkLimits,
  clock = () => new Date(),
): LinkGate {
  const key = vault.derive('link-target')
  const resend = async ({ userId, platform, target }: LinkResend): Promise<void> => {
    if (platform === OWN) return
    const now = clock()
    await db.transaction(async (tx) => {
      if (target !== undefined) await useQuota(tx, `link:target:${target}`, perTarget, now)
      await useQuota(tx, `link:user:${userId}`, perUser, now)
      await useQuota(tx, 'link:all', inAll, now)
    })
  }
  return {
    async start(start) {
      const text = spelt(start)
      const target = text && createHmac('sha256', key).update(text).digest('base64url')
      await resend({ userId: start.userId, platform: start.platform, target })
      return target
    },
    resend,
  }
}
