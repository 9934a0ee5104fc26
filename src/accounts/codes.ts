/** One-time codes: made, sent by a job, tried a few times, used once. */
import { createHmac, randomBytes, randomInt } from 'node:crypto'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { sameHash } from '../security/keys.ts'
import type { Vault } from '../security/vault.ts'
import type { Client } from './client.ts'
import { type Clock, secondsAfter } from './clock.ts'
import type { OtpLimits } from './limits.ts'
import type { Phone } from './phone.ts'
import { admitSending, admitTry } from './send-limits.ts'
import type { CodeMessage, OtpSender } from './senders/sender.ts'
import { forgive, takeTry, wrongCode } from './tries.ts'

export interface CodesOptions {
  readonly db: Database
  readonly vault: Vault
  readonly jobs: Jobs
  readonly sender: OtpSender
  readonly limits: OtpLimits
  readonly codeLength: number
  /** The site that may fill the code in by itself; named in the message. */
  readonly domain: string
  readonly clock: Clock
  readonly log: Log
}

export interface SentCode {
  readonly phone: string
  readonly expiresIn: number
  readonly resendIn: number
  readonly channel: string
}

/** A code asked for one purpose is good for nothing else. */
export type CodePurpose = 'sign_in'

/** A newer code takes the place of the older one, which is void from then on. */
const store = `
  insert into otp_challenge
    (phone_index, purpose, id, code_mac, message_sealed, created_at, expires_at, tries)
  values ($1, $2, $3, $4, $5, $6, $7, 0)
  on conflict (phone_index, purpose) do update set
    id = excluded.id, code_mac = excluded.code_mac, message_sealed = excluded.message_sealed,
    created_at = excluded.created_at, expires_at = excluded.expires_at, tries = 0`

const unsent = `
  select message_sealed as sealed from otp_challenge
  where id = $1 and expires_at > $2 and message_sealed is not null`
const allUnsent = `
  select id from otp_challenge where expires_at > $1 and message_sealed is not null`

export function createCodes(options: CodesOptions) {
  const { db, vault, jobs, sender, limits, codeLength, domain, clock, log } = options
  const pepper = vault.derive('otp-pepper')
  const indexKey = vault.derive('phone-index')

  const indexOf = (phone: string) => createHmac('sha256', indexKey).update(phone).digest()
  const macOf = (id: string, phone: string, code: string) =>
    createHmac('sha256', pepper).update(`${id}|${phone}|${code}`).digest()
  const placeOf = (id: string) => ({ table: 'otp_challenge', column: 'message_sealed', row: id })

  return {
    indexOf,

    /** The same answer for every phone, whether an account has it or not. */
    async send(phone: Phone, purpose: CodePurpose, { ip }: Client): Promise<SentCode> {
      const now = clock()
      const index = indexOf(phone.number)
      const id = randomBytes(16).toString('hex')
      const code = randomInt(10 ** codeLength)
        .toString()
        .padStart(codeLength, '0')
      const message: CodeMessage = { phone: phone.number, code, text: textOf(code, domain, limits) }
      const sealed = await vault.seal('otp', placeOf(id), Buffer.from(JSON.stringify(message)))

      const resendIn = await db.transaction(async (tx) => {
        const sending = { phoneKey: index.toString('hex'), country: phone.country, ip }
        const delay = await admitSending(tx, sending, limits, now, log)
        const mac = macOf(id, phone.number, code)
        const expiresAt = secondsAfter(now, limits.lifetime)
        await tx.query(store, [index, purpose, id, mac, sealed, now, expiresAt])
        return delay
      })
      await jobs.sendCode(id)
      const { channel } = sender
      return { phone: phone.number, expiresIn: limits.lifetime, resendIn, channel }
    },

    /** Resolves once for the right code; rejects for everything else. */
    async use(phone: Phone, purpose: CodePurpose, code: string, { ip }: Client): Promise<void> {
      const now = clock()
      await admitTry(db, ip, limits, now)
      const target = { phone: indexOf(phone.number), purpose }
      const { id, mac } = await takeTry(db, target, limits, now)
      if (!sameHash(mac, macOf(id, phone.number, code))) throw wrongCode()
      const used = await db.query('delete from otp_challenge where id = $1 returning id', [id])
      if (used.length === 0) throw wrongCode()
      await forgive(db, target)
    },

    /** The job's part: a code that was replaced or is too old is not sent any more. */
    async deliver(id: string, signal: AbortSignal): Promise<void> {
      const [row] = await db.query<{ sealed: Buffer }>(unsent, [id, clock()])
      if (!row) return
      const message = JSON.parse((await vault.open(placeOf(id), row.sealed)).toString())
      await sender.send(message, signal)
      await db.query('update otp_challenge set message_sealed = null where id = $1', [id])
    },

    /** Hands over again what a lost queue has forgotten. */
    async resume(): Promise<void> {
      const rows = await db.query<{ id: string }>(allUnsent, [clock()])
      for (const { id } of rows) await jobs.sendCode(id)
    },
  }
}

export type Codes = ReturnType<typeof createCodes>

/** The last line lets a browser offer the code on this site, and on no other. */
function textOf(code: string, domain: string, { lifetime }: OtpLimits): string {
  const minutes = Math.round(lifetime / 60)
  return `Your Chapar sign-in code is ${code}. It is valid for ${minutes} minutes; do not pass it on.\n\n@${domain} #${code}`
}
