/** One-time codes: made, sent by a job, tried a few times, used once. */
import { createHmac, randomBytes, randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../actors/ports/ports.ts'
import type { Database, Queryable } from '../database/database.ts'
import { OtpChallenge } from '../database/entities.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { sameHash } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import { type RequestClient, requesterOf } from './client.ts'
import { type Clock, secondsAfter } from './clock.ts'
import type { OtpLimits } from './limits.ts'
import { type Phone, phoneIndex } from './phone.ts'
import type { CodeMessage, OtpSender } from './senders/sender.ts'
import { admitSending, admitTry, findChallenge, forgive, takeTry, wrongCode } from './tries.ts'

interface CodesOptions {
  readonly db: Database
  readonly vault: Vault
  readonly jobs: Jobs
  readonly sender: OtpSender
  readonly limits: OtpLimits
  readonly codeLength: number
  /** The site that may fill the code in by itself; named in the message. */
  readonly domain: string
  readonly clock: Clock
  readonly logger: Logger
}

export interface SentCode {
  /** Binds the code to the client that asked for it: with it, tries of strangers do not count against them. */
  readonly challengeId: string
  readonly phone: string
  readonly expiresIn: number
  readonly resendIn: number
  readonly channel: string
}

type Sealed = Omit<CodeMessage, 'id'>

interface GivenCode {
  readonly code: string
  readonly challengeId?: string | undefined
}

/** A code is valid only for its purpose. */
type CodePurpose = 'sign_in'

/** SQL, since the code is stored in the transaction that counts it. */
const store = `
  insert into otp_challenge
    (phone_index, purpose, requester, id, code_mac, message_sealed, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`

/** Deletes the used code, and earlier ones requested from the same network. */
const useUp = `
  with used as (delete from otp_challenge where id = $1 returning phone_index, purpose, requester),
  older as (
    delete from otp_challenge c using used
    where c.phone_index = used.phone_index and c.purpose = used.purpose
      and c.requester = used.requester and c.id <> $1
  )
  select from used`

const unsentAt = (now: Date) => ({ expiresAt: { $gt: now }, messageSealed: { $ne: null } })

/** Longer than an attempt to send takes; another one may begin after it, since a crash ends an attempt without a word. */
const CLAIM_SECONDS = 40
const LOOK_AGAIN_MS = 250

const placeOf = (id: string) => ({ table: 'otp_challenge', column: 'message_sealed', row: id })

export class Codes {
  readonly #options: CodesOptions
  readonly #pepper: Buffer
  /** The keyed hash under which a phone is stored. */
  readonly indexOf: (phone: string) => Buffer

  constructor(options: CodesOptions) {
    this.#options = options
    this.#pepper = options.vault.derive('otp-pepper')
    this.indexOf = phoneIndex(options.vault)
  }

  /** The same answer for every phone, whether an account has it or not. */
  async send(phone: Phone, purpose: CodePurpose, { ip }: RequestClient): Promise<SentCode> {
    const { db, jobs, sender, limits, clock, logger } = this.#options
    const now = clock()
    const index = this.indexOf(phone.number)
    const id = randomBytes(16).toString('hex')
    const code = this.#newCode()
    const sealed = await this.#sealMessage(id, phone, code)

    const resendIn = await db.transaction(async (tx) => {
      const requester = await requesterOf(tx, index, ip)
      const sending = { phoneKey: index.toString('hex'), country: phone.country, requester }
      const delay = await admitSending(tx, sending, limits, now, logger)
      const mac = this.#macOf(id, phone.number, code)
      const expiresAt = secondsAfter(now, limits.lifetime)
      const row = [index, purpose, requester.network, id, mac, sealed, now, expiresAt]
      await tx.query(store, row)
      return delay
    })
    await jobs.sendCode(id)
    const { channel } = sender
    const { lifetime: expiresIn } = limits
    return { challengeId: id, phone: phone.number, expiresIn, resendIn, channel }
  }

  /**
   * Resolves for the right code with how to use it up: once, in the transaction of what it is good for, so that a failure
   * there leaves the code as it was. Rejects for everything else.
   */
  async check(
    phone: Phone,
    purpose: CodePurpose,
    { code, challengeId }: GivenCode,
    { ip }: RequestClient,
  ): Promise<(tx: Queryable) => Promise<void>> {
    const { db, limits, clock } = this.#options
    const now = clock()
    const index = this.indexOf(phone.number)
    const requester = await requesterOf(db, index, ip)
    const target = { phone: index, purpose, requester, challengeId }
    const challenge = await findChallenge(db, target, now)
    // The challenge bounds the tries of the one who asked for the code; their network bounds those of all others.
    const isStranger = challenge === undefined || challenge.bond === 'far'
    const giveBack = isStranger ? await admitTry(db, ip, limits, now) : undefined
    const { id, mac } = await takeTry(db, target, challenge, limits, now)
    if (!sameHash(mac, this.#macOf(id, phone.number, code))) throw wrongCode()
    return async (tx) => {
      const used = await tx.query(useUp, [id])
      if (used.length === 0) throw wrongCode()
      await forgive(tx, index)
      await giveBack?.(tx)
    }
  }

  /**
   * Runs in the job, and past the queue where that is slow: then the job may come as well, so each attempt claims the code
   * and waits for the outcome of another one. A code that was replaced or has expired is not sent.
   */
  async deliver(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const message = await this.#claim(id)
      if (message === 'sent') return
      if (message) return await this.#sendClaimed(id, message, signal)
      await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }

  /** Undefined while another attempt has it. */
  async #claim(id: string): Promise<Sealed | 'sent' | undefined> {
    const { db, vault, clock } = this.#options
    const now = clock()
    const unsent = { id, ...unsentAt(now) }
    const free = { $or: [{ sendingUntil: null }, { sendingUntil: { $lte: now } }] }
    const claim = { sendingUntil: secondsAfter(now, CLAIM_SECONDS) }
    const claimed = await db.records((em) =>
      em.nativeUpdate(OtpChallenge, { ...unsent, ...free }, claim),
    )
    const found = await db.records((em) => em.findOne(OtpChallenge, unsent))
    if (!found?.messageSealed) return 'sent'
    if (claimed === 0) return undefined
    return JSON.parse((await vault.open(placeOf(id), found.messageSealed)).toString())
  }

  async #sendClaimed(id: string, message: Sealed, signal: AbortSignal): Promise<void> {
    const { db, sender, logger } = this.#options
    const save = (change: { messageSealed: null } | { sendingUntil: null }) =>
      db
        .records((em) => em.nativeUpdate(OtpChallenge, { id }, change))
        .catch((err) => logger.warn({ err, id }, 'the outcome of a code was not stored'))
    try {
      await sender.send({ ...message, id: this.#nameOf(id) }, signal)
    } catch (cause) {
      await save({ sendingUntil: null })
      throw cause
    }
    // An error here must not have it sent once more.
    await save({ messageSealed: null })
  }

  /** Queues codes again after the queue was lost. */
  async resume(): Promise<void> {
    const { db, jobs, clock } = this.#options
    const unsent = unsentAt(clock())
    const found = await db.records((em) => em.find(OtpChallenge, unsent, { fields: ['id'] }))
    for (const { id } of found) await jobs.sendCode(id)
  }

  #newCode(): string {
    const { codeLength } = this.#options
    return randomInt(10 ** codeLength)
      .toString()
      .padStart(codeLength, '0')
  }

  async #sealMessage(id: string, phone: Phone, code: string): Promise<Buffer> {
    const { vault, domain, limits } = this.#options
    const message: Sealed = { phone: phone.number, code, text: textOf(code, domain, limits) }
    return await vault.seal('otp', placeOf(id), Buffer.from(JSON.stringify(message)))
  }

  /** The id itself is for the client alone. */
  #nameOf(id: string): string {
    return createHmac('sha256', this.#pepper).update(`message|${id}`).digest('hex').slice(0, 32)
  }

  #macOf(id: string, phone: string, code: string): Buffer {
    return createHmac('sha256', this.#pepper).update(`${id}|${phone}|${code}`).digest()
  }
}

/** The last line lets a browser offer the code on this site, and on no other. */
function textOf(code: string, domain: string, { lifetime }: OtpLimits): string {
  const minutes = Math.round(lifetime / 60)
  return `Your Chapar sign-in code is ${code}. It is valid for ${minutes} minutes; do not pass it on.\n\n@${domain} #${code}`
}
