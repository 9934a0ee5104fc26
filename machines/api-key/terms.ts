/** Decides what a key may do, and until when: the one place for machines, actors, routes and the panel. */
import type { KeyTerms, Scope } from './events.ts'

export type Standing = 'usable' | 'expired' | 'revoked'

type Expiry = Pick<KeyTerms, 'expiresAt'>
type Scopes = { readonly scopes: readonly string[] }

/** Times are in milliseconds since 1970. */
export function hasExpired({ expiresAt = Number.POSITIVE_INFINITY }: Expiry, now: number): boolean {
  return now >= expiresAt
}

export const hasScope = ({ scopes }: Scopes, scope: Scope): boolean => scopes.includes(scope)

/** Whether its scopes let a key receive updates, by polls or by a webhook. */
export const mayReceive = (terms: Scopes): boolean => hasScope(terms, 'bot:receive')

/** Whether a key receives updates at this time. */
export const receivesAt = (terms: KeyTerms, now: number): boolean =>
  mayReceive(terms) && !hasExpired(terms, now)

/** Whether a call that needs this scope may go on. */
export const mayCall = (terms: KeyTerms, scope: Scope | undefined, now: number): boolean =>
  !hasExpired(terms, now) && (scope === undefined || hasScope(terms, scope))

/** A key as its record has it: times in ISO 8601. */
interface KeyRecord {
  readonly revoked_at: string | null
  readonly expires_at: string | null
}

export function keyStanding({ revoked_at, expires_at }: KeyRecord, now: number): Standing {
  if (revoked_at !== null) return 'revoked'
  const expiresAt = expires_at === null ? undefined : Date.parse(expires_at)
  return hasExpired({ expiresAt }, now) ? 'expired' : 'usable'
}
