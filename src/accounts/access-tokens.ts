/** Access tokens: short-lived JWTs that name a user and a session. */
import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { failed } from '../../machines/model/failure.ts'
import { type Clock, secondsAfter } from './clock.ts'
import { ALGORITHM, LEEWAY_SECONDS, LIFETIME_SECONDS, type SigningKeys } from './signing-keys.ts'

interface AccessClaims {
  readonly userId: number
  readonly sessionId: number
}

export type Signer = (claims: AccessClaims) => Promise<string>

const TYPE = 'at+jwt'
const LONGEST = 4_096
/**
 * Stricter than the decoder, which ignores padding and unused bits, so that each token has exactly one spelling. The
 * last of the 86 characters of 64 bytes has four unused bits.
 */
const form = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/
const requiredClaims = ['sub', 'sid', 'jti', 'iat', 'nbf', 'exp']

export function createAccessTokens(keys: SigningKeys, issuer: string, clock: Clock) {
  async function keyOf({ kid }: { readonly kid?: string }) {
    const key = kid === undefined ? undefined : await keys.find(kid)
    if (!key) throw new errors.JWKSNoMatchingKey()
    return key
  }

  return {
    /** Signs without asking the database again. */
    async signer(): Promise<Signer> {
      const { kid, key } = await keys.current()
      return async ({ userId, sessionId }) => {
        const now = clock()
        return await new SignJWT({ sid: `${sessionId}` })
          .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
          .setIssuer(issuer)
          .setAudience(issuer)
          .setSubject(`${userId}`)
          .setJti(randomUUID())
          .setIssuedAt(now)
          .setNotBefore(now)
          .setExpirationTime(secondsAfter(now, LIFETIME_SECONDS))
          .sign(key)
      }
    },

    /** Does not check the session, which may have ended since. */
    async verify(token: string): Promise<AccessClaims> {
      if (token.length > LONGEST || !form.test(token)) throw invalid()
      try {
        const { payload } = await jwtVerify<{ readonly sid: unknown }>(token, keyOf, {
          algorithms: [ALGORITHM],
          typ: TYPE,
          issuer,
          audience: issuer,
          clockTolerance: LEEWAY_SECONDS,
          requiredClaims,
          currentDate: clock(),
        })
        return { userId: idOf(payload.sub), sessionId: idOf(payload.sid) }
      } catch (error) {
        throw refusal(error)
      }
    },
  }
}

/** Errors of jose mean an invalid token; any other error, such as a lost database, does not. */
function refusal(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) {
    return failed('unauthorized', 'the access token has expired')
  }
  return error instanceof errors.JOSEError ? invalid() : error
}

function idOf(claim: unknown): number {
  const id = Number(claim)
  if (!Number.isSafeInteger(id)) throw new errors.JWTInvalid()
  return id
}

const invalid = () => failed('unauthorized', 'the access token is not valid')
