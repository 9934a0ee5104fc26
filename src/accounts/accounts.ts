/** Accounts: signing in with a one-time code, staying signed in, and tokens for scripts. */
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { Gcra, type RateLimit } from '../security/rate-limits.ts'
import type { Vault } from '../security/vault.ts'
import { createAccessTokens } from './access-tokens.ts'
import type { Client } from './client.ts'
import { type Clock, secondsAfter } from './clock.ts'
import { createCodes, type SentCode } from './codes.ts'
import { defaultOtpLimits, type OtpLimits } from './limits.ts'
import { createPersonalTokens } from './personal-tokens.ts'
import { parsePhone } from './phone.ts'
import type { Page } from './records.ts'
import { createRefreshTokens } from './refresh-tokens.ts'
import type { OtpSender } from './senders/sender.ts'
import { createSessions } from './sessions.ts'
import { createSigningKeys, LIFETIME_SECONDS } from './signing-keys.ts'
import { tidy } from './tidy.ts'
import { createUsers, type User } from './users.ts'

export interface AccountsOptions {
  readonly db: Database
  readonly vault: Vault
  readonly jobs: Jobs
  readonly sender: OtpSender
  /** The public address of the service: names it in access tokens and in the messages with codes. */
  readonly issuer: string
  readonly log: Log
  readonly clock?: Clock
  readonly limits?: Partial<OtpLimits>
  /** Digits of a code; eight where it goes by SMS, which others may read on the way. */
  readonly codeLength?: number
  /** Management calls of each user, whatever they sign in with. 600 a minute unless given. */
  readonly callLimit?: RateLimit
}

export interface SignedIn {
  readonly user: User
  readonly accessToken: string
  readonly expiresIn: number
  readonly refreshToken: string
}

const UPKEEP_SECONDS = 3_600
const callsPerUser: RateLimit = { perSecond: 10, burst: 600 }

export function createAccounts(options: AccountsOptions) {
  const { db, vault, jobs, sender, issuer, log, clock = () => new Date() } = options
  const limits = { ...defaultOtpLimits, ...options.limits }
  const codeLength = options.codeLength ?? (sender.channel === 'sms' ? 8 : 6)
  const domain = new URL(issuer).hostname

  const codes = createCodes({ db, vault, jobs, sender, limits, codeLength, domain, clock, log })
  const users = createUsers(db, vault)
  const sessions = createSessions(db, clock)
  const refreshTokens = createRefreshTokens(db, sessions, clock, log)
  const signingKeys = createSigningKeys(db, vault, clock)
  const accessTokens = createAccessTokens(signingKeys, issuer, clock)
  const tokens = createPersonalTokens(db, clock)

  async function signedIn(user: User, sessionId: number, refreshToken: string): Promise<SignedIn> {
    const accessToken = await accessTokens.sign({ userId: user.id, sessionId })
    return { user, accessToken, expiresIn: LIFETIME_SECONDS, refreshToken }
  }

  async function upkeep(): Promise<void> {
    const at = secondsAfter(new Date(), UPKEEP_SECONDS)
    await jobs.remind({ kind: 'accounts', id: 'upkeep', at })
    await tidy(db, clock())
    await signingKeys.rotate()
  }

  return {
    tokens,
    signingKeys,
    calls: new Gcra<number>(options.callLimit ?? callsPerUser),

    /** To be called before the jobs start. */
    async start(): Promise<void> {
      jobs.onSendCode((id, signal) => codes.deliver(id, signal))
      jobs.onReminder('accounts', upkeep)
      await signingKeys.current()
      await upkeep()
      await codes.resume()
      jobs.onBack(() => {
        codes.resume().catch((err) => log.warn({ err }, 'codes were not handed over again'))
      })
    },

    async sendOtp(phone: string, client: Client): Promise<SentCode> {
      return await codes.send(parsePhone(phone), 'sign_in', client)
    },

    async login(
      text: string,
      otp: string,
      client: Client,
      challengeId?: string,
    ): Promise<SignedIn> {
      const phone = parsePhone(text)
      await codes.use(phone, 'sign_in', { code: otp, challengeId }, client)
      const index = codes.indexOf(phone.number)
      const user = await users.findOrCreate(phone.number, index, clock())
      const opened = await db.transaction(async (tx) => {
        const sessionId = await sessions.open(tx, user.id, client)
        return { sessionId, refreshToken: await refreshTokens.issue(tx, sessionId) }
      })
      return await signedIn(user, opened.sessionId, opened.refreshToken)
    },

    async refresh(refreshToken: string, client: Client): Promise<SignedIn> {
      const refreshed = await refreshTokens.refresh(refreshToken, client)
      const user = await users.get(refreshed.userId)
      return await signedIn(user, refreshed.sessionId, refreshed.refreshToken)
    },

    logout: (refreshToken: string) => refreshTokens.revoke(refreshToken),

    user: (id: number) => users.get(id),

    /** Everywhere, scripts too. */
    async signOut(userId: number): Promise<void> {
      await sessions.endAll(userId)
      await tokens.deleteAll(userId)
    },

    sessions: (userId: number, page: Page) => sessions.list(userId, page),

    async endSession(id: number, userId: number): Promise<void> {
      if (!(await sessions.endOwn(id, userId))) throw failed('not_found')
    },

    /** Whether the session has not ended, whatever became of the access token it was entered with. */
    async isSignedIn(sessionId: number, userId: number): Promise<boolean> {
      return (await sessions.ownerOf(sessionId)) === userId
    },

    /** Who is calling with an access token of a session that has not ended. */
    async verifyAccessToken(token: string) {
      const claims = await accessTokens.verify(token)
      if ((await sessions.ownerOf(claims.sessionId)) === claims.userId) return claims
      throw failed('unauthorized', 'the session has ended')
    },
  }
}

export type Accounts = ReturnType<typeof createAccounts>
