/** Accounts: signing in with a one-time code, staying signed in, and tokens for scripts. */

import type { Logger } from '../../actors/ports/ports.ts'
import { failed, RequestFailed, thrownAs } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import { OtpChallenge, PersonalToken, UserSession } from '../database/entities.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Bus } from '../nodes/bus.ts'
import { type CallCount, Gcra, type RateLimit } from '../security/rate-limits.ts'
import type { Vault } from '../security/vault.ts'
import type { RequestClient } from './client.ts'
import { type Clock, secondsAfter } from './clock.ts'
import { Codes, type SentCode } from './codes.ts'
import { defaultOtpLimits, type OtpLimits, useQuota } from './limits.ts'
import { PersonalTokens } from './personal-tokens.ts'
import { parsePhone } from './phone.ts'
import type { OtpSender } from './senders/sender.ts'
import { createRefreshTokens, Sessions } from './sessions.ts'
import { createAccessTokens, LIFETIME_SECONDS, type Signer, SigningKeys } from './signing-keys.ts'
import { Suspensions } from './suspensions.ts'
import { createUsers, type PageOf, type PageRequest, type User } from './users.ts'

export interface AccountsOptions {
  readonly db: Database
  readonly vault: Vault
  readonly jobs: Jobs
  readonly sender: OtpSender
  /** The public address of the service: names it in access tokens and in the messages with codes. */
  readonly issuer: string
  readonly logger: Logger
  readonly clock?: Clock
  readonly limits?: Partial<OtpLimits>
  /** Digits of a code: eight for SMS, which others may intercept. */
  readonly codeLength?: number
  /** Management calls of each user, by all sign-ins together. 600 a minute by default. */
  readonly calls?: CallCount
  /** Absent: there are no other nodes. */
  readonly bus?: Pick<Bus, 'tell' | 'on' | 'onGap'>
}

export interface SignedIn {
  readonly user: User
  readonly accessToken: string
  readonly expiresIn: number
  readonly refreshToken: string
}

const UPKEEP_SECONDS = 3_600
const callsPerUser: RateLimit = { perSecond: 10, burst: 600 }
/** Failed sign-ins of one user that the audit log has. */
const refusalsNoted = { count: 100, seconds: 86_400 }

const isTooMany = (cause: unknown): boolean =>
  cause instanceof RequestFailed && cause.failure.code === 'rate_limited'

export class Accounts {
  readonly tokens: PersonalTokens
  readonly suspensions: Suspensions
  readonly signingKeys: SigningKeys
  /** Counts the management calls of each user. */
  readonly calls: CallCount
  readonly #db: Database
  readonly #jobs: Jobs
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #codes: Codes
  readonly #users: ReturnType<typeof createUsers>
  readonly #sessions: Sessions
  readonly #refreshTokens: ReturnType<typeof createRefreshTokens>
  readonly #accessTokens: ReturnType<typeof createAccessTokens>

  constructor(options: AccountsOptions) {
    const { db, vault, jobs, sender, issuer, logger, clock = () => new Date() } = options
    const limits = { ...defaultOtpLimits, ...options.limits }
    const codeLength = options.codeLength ?? (sender.channel === 'sms' ? 8 : 6)
    const domain = new URL(issuer).hostname
    this.#db = db
    this.#jobs = jobs
    this.#logger = logger
    this.#clock = clock
    this.#codes = new Codes({ db, vault, jobs, sender, limits, codeLength, domain, clock, logger })
    this.#users = createUsers(db, vault)
    const revoked = () => options.bus?.tell('revoked', null)
    this.#sessions = new Sessions(db, clock, revoked)
    this.#refreshTokens = createRefreshTokens(db, this.#sessions, clock, logger)
    this.signingKeys = new SigningKeys(db, vault, clock)
    this.#accessTokens = createAccessTokens(this.signingKeys, issuer, clock)
    this.tokens = new PersonalTokens(db, clock, revoked)
    const revokedElsewhere = () => {
      this.#sessions.endedElsewhere()
      this.tokens.revokedElsewhere()
    }
    options.bus?.on('revoked', revokedElsewhere)
    options.bus?.onGap(revokedElsewhere)
    this.suspensions = new Suspensions({ db, clock, logger, bus: options.bus })
    this.calls = options.calls ?? new Gcra<number>(callsPerUser)
  }

  /** Call it before the jobs start. Resolves with what ends it. */
  async start(): Promise<() => Promise<void>> {
    const codes = this.#codes
    const jobs = this.#jobs
    jobs.onSendCode((id, signal) => codes.deliver(id, signal))
    jobs.onReminder('accounts', () => this.#upkeep())
    await this.signingKeys.current()
    await this.#upkeep()
    await codes.resume()
    await this.suspensions.start()
    jobs.onBack(() => {
      codes.resume().catch((err) => this.#logger.warn({ err }, 'codes were not handed over again'))
    })
    return () => this.suspensions.stop()
  }

  async sendOtp(phone: string, client: RequestClient): Promise<SentCode> {
    return await this.#codes.send(parsePhone(phone), 'sign_in', client)
  }

  async login(
    text: string,
    otp: string,
    client: RequestClient,
    challengeId?: string,
  ): Promise<SignedIn> {
    const phone = parsePhone(text)
    const index = this.#codes.indexOf(phone.number)
    const given = { code: otp, challengeId }
    const use = await this.#codes.check(phone, 'sign_in', given, client).catch((cause) => {
      // Nobody waits for it: a later or another answer would tell strangers that the phone has an account.
      this.#noteRefusal(index, client, cause).catch((err) =>
        this.#logger.error({ err }, 'a refused sign-in is not in the audit log'),
      )
      throw cause
    })
    const user = await this.#users.findOrCreate(phone.number, index, this.#clock())
    const sign = await this.#accessTokens.signer()
    const opened = await this.#db.transaction(async (tx) => {
      const suspension = await this.suspensions.storedOf(tx, user.id)
      // The right code is used up, and shows whose phone it is: strangers do not learn of a suspension.
      if (suspension) return await this.#refuse(tx, use, suspension, user.id, client)
      const session = await this.#sessions.open(tx, user.id, client)
      await use(tx)
      await noteChange(tx, { userId: user.id, target: ['session', session.sessionId] })
      return { ...session, refreshToken: await this.#refreshTokens.issue(tx, session.sessionId) }
    })
    if ('code' in opened) throw thrownAs(opened)
    this.#sessions.forget(opened.ended)
    return await signedIn(sign, user, opened)
  }

  /** Notes a sign-in with the right code that is refused all the same. */
  async #refuse(
    tx: Queryable,
    use: (tx: Queryable) => Promise<void>,
    refusal: Failure,
    userId: number,
    { ip, requestId }: RequestClient,
  ): Promise<Failure> {
    await use(tx)
    const author = { via: 'code', action: 'session.refused', userId, ip, requestId } as const
    await noteChange(tx, { after: { why: refusal.reason } }, author)
    return refusal
  }

  /**
   * A failed sign-in, in the log of the user whose phone it was tried with. Anybody may fail as often as they like, so a day
   * has only so many lines, and none where no code was compared because there were too many before.
   */
  async #noteRefusal(
    phoneIndex: Buffer,
    { ip, requestId }: RequestClient,
    cause: unknown,
  ): Promise<void> {
    if (isTooMany(cause)) return
    const userId = await this.#users.idOf(phoneIndex)
    if (userId === undefined) return
    const counted = useQuota(this.#db, `refused:${userId}`, refusalsNoted, this.#clock())
    const isFull = await counted.then(
      () => false,
      (why) => {
        if (isTooMany(why)) return true
        throw why
      },
    )
    if (isFull) return
    const author = { via: 'code', action: 'session.refused', userId, ip, requestId } as const
    await noteChange(this.#db, {}, author)
  }

  /** A token is refused the second time, so all that may fail comes before its use. */
  async refresh(refreshToken: string, client: RequestClient): Promise<SignedIn> {
    const owner = await this.#refreshTokens.ownerOf(refreshToken)
    const user = owner === undefined ? undefined : await this.#users.get(owner)
    // Each use keeps a row for as long as the session lives.
    const retryAfterSeconds = owner === undefined ? 0 : await this.calls.take(owner)
    if (retryAfterSeconds > 0) throw failed('rate_limited', '', { retryAfterSeconds })
    const suspension = owner === undefined ? undefined : this.suspensions.ofUser(owner)
    if (suspension) throw thrownAs(suspension)
    const sign = await this.#accessTokens.signer()
    const refreshed = await this.#refreshTokens.refresh(refreshToken, client)
    return await signedIn(sign, user ?? (await this.#users.get(refreshed.userId)), refreshed)
  }

  logout(refreshToken: string): Promise<void> {
    return this.#refreshTokens.revoke(refreshToken)
  }

  user(id: number): Promise<User> {
    return this.#users.get(id)
  }

  /** Signs out everywhere, and revokes the tokens of scripts. */
  async signOut(userId: number): Promise<void> {
    await this.#sessions.endAll(userId)
    await this.tokens.deleteAll(userId)
  }

  sessions(userId: number, page: PageRequest): Promise<PageOf<UserSession>> {
    return this.#sessions.list(userId, page)
  }

  async endSession(id: number, userId: number): Promise<void> {
    if (!(await this.#sessions.endOwn(id, userId))) throw failed('not_found')
  }

  /** Whether the session is still open, even if its access token has expired. */
  async isSignedIn(sessionId: number, userId: number): Promise<boolean> {
    return (await this.#sessions.ownerOf(sessionId)) === userId
  }

  /** The user and session of an access token; rejects when the session has ended. */
  async verifyAccessToken(token: string) {
    const claims = await this.#accessTokens.verify(token)
    if ((await this.#sessions.ownerOf(claims.sessionId)) === claims.userId) return claims
    throw failed('unauthorized', 'the session has ended')
  }

  async #upkeep(): Promise<void> {
    const at = secondsAfter(new Date(), UPKEEP_SECONDS)
    await this.#jobs.remind({ kind: 'accounts', id: 'upkeep', at })
    await tidy(this.#db, this.#clock())
    await this.signingKeys.rotate()
  }
}

async function signedIn(
  sign: Signer,
  user: User,
  { sessionId, refreshToken }: { readonly sessionId: number; readonly refreshToken: string },
): Promise<SignedIn> {
  const accessToken = await sign({ userId: user.id, sessionId })
  return { user, accessToken, expiresIn: LIFETIME_SECONDS, refreshToken }
}

const HOUR = 3_600
const DAY = 24 * HOUR

/** Wrong tries for a phone are forgotten after a month without one; a locked phone is unlocked by it. */
const FAILURES_KEPT = 30 * DAY

/** Expired codes are kept for an hour, so that a late user learns that the code has expired. */
const CODES_KEPT = HOUR
const PERSONAL_TOKENS_KEPT = 30 * DAY

/** Deletes rows of sign-ins that are no longer read. */
export async function tidy(db: Database, now: Date): Promise<void> {
  const ago = (seconds: number) => secondsAfter(now, -seconds)
  await db.records(async (em) => {
    await em.nativeDelete(OtpChallenge, { expiresAt: { $lt: ago(CODES_KEPT) } })
    await em.nativeDelete(UserSession, { expiresAt: { $lt: now } })
    await em.nativeDelete(PersonalToken, { expiresAt: { $lt: ago(PERSONAL_TOKENS_KEPT) } })
  })
  await db.query('delete from otp_failures where failed_at < $1', [ago(FAILURES_KEPT)])
  await db.query('delete from quota where used_at < $1', [ago(DAY)])
}
