/** Authenticates calls of the management API: an access token or, where allowed, a personal access token with the scope of the route. */
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { failed, thrownAs } from '../../machines/model/failure.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { TokenScope } from '../accounts/personal-tokens.ts'
import type { Staff } from '../accounts/staff.ts'
import type { Sharing } from './access.ts'
import { type Acting, ON_BEHALF_OF, onBehalf } from './on-behalf.ts'

export interface RequestUser {
  readonly id: number
  readonly via: 'jwt' | 'pat'
  /** The session of the access token, if there is one. */
  readonly sessionId?: number
  /** The personal access token, if there is one, and what it may do. */
  readonly token?: { readonly id: number; readonly scopes: readonly TokenScope[] }
  /** Set where one of the staff makes the call; `id` is then the user on whose behalf. */
  readonly acting?: Acting
  /** Set where the account that the call is about is shared with who makes it; `id` is then its owner. */
  readonly sharing?: Sharing
  /** Whether the session or the token is still valid; for answers without an end, such as event streams. */
  stands(): Promise<boolean>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `authenticate`; only to be read in routes that have it. */
    user: RequestUser
  }
  interface FastifyContextConfig {
    /** What a personal access token needs for this route. */
    scope?: TokenScope
  }
}

interface AuthenticateOptions {
  /** Whether a personal access token will do. */
  readonly pat: boolean
  /** Absent: nobody makes these calls on behalf of another user. */
  readonly staff?: Staff | undefined
}

const form = /^(bearer|apikey) +([\w.~+/=-]+)$/i

/** Rejects with `forbidden` if the request comes with a token that lacks the scope. */
export function demandScope({ user }: Pick<FastifyRequest, 'user'>, scope: TokenScope): void {
  if (!user.token || user.token.scopes.includes(scope)) return
  throw failed('forbidden', `the token lacks the scope ${scope}`, {
    reason: 'token_scope',
    params: { scope },
  })
}

export function authenticate(
  accounts: Accounts,
  { pat, staff }: AuthenticateOptions,
): preHandlerAsyncHookHandler {
  async function identify({ headers, ip, audit }: FastifyRequest): Promise<RequestUser> {
    const [, scheme, token] = form.exec(headers.authorization ?? '') ?? []
    if (!scheme || !token) throw failed('unauthorized')
    if (scheme.toLowerCase() === 'bearer') {
      const { userId, sessionId } = await accounts.verifyAccessToken(token)
      const stands = async () =>
        !accounts.suspensions.ofUser(userId) && (await accounts.isSignedIn(sessionId, userId))
      return { id: userId, via: 'jwt', sessionId, stands }
    }
    if (!pat) throw failed('unauthorized', 'a personal access token is not accepted here')
    const { userId, tokenId, scopes, opensFrom } = await accounts.tokens.holderOf(token)
    audit.userId = userId
    if (opensFrom?.(ip) === false) {
      throw failed('forbidden', 'this token may not be used from this address', {
        reason: 'address_not_allowed',
      })
    }
    const stands = async () =>
      !accounts.suspensions.ofUser(userId) && (await accounts.tokens.opens(token))
    return { id: userId, via: 'pat', token: { id: tokenId, scopes }, stands }
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('www-authenticate', pat ? 'Bearer, apikey' : 'Bearer')
    const caller = await identify(request)
    request.user = caller
    request.audit.userId = caller.id
    reply.removeHeader('www-authenticate')
    const retryAfterSeconds = await accounts.calls.take(caller.id)
    if (retryAfterSeconds > 0) throw failed('rate_limited', '', { retryAfterSeconds })
    const suspension = accounts.suspensions.ofUser(caller.id)
    if (suspension) throw thrownAs(suspension)
    if (pat) demandScope(request, scopeOf(request))
    if (request.headers[ON_BEHALF_OF] === undefined) return
    if (!staff) throw failed('forbidden', 'only the user may do this', { reason: 'only_the_user' })
    request.user = { ...caller, ...(await onBehalf(staff, request, caller)) }
  }
}

/** A route that takes tokens and says not for what would let every token in. */
function scopeOf({ routeOptions }: FastifyRequest): TokenScope {
  const { scope } = routeOptions.config
  if (scope === undefined) throw new Error(`${routeOptions.url} declares no scope`)
  return scope
}
