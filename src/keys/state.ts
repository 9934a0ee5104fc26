/** Where the machine of a key is: as its actor says while it lives, else as the record tells that it would wake. */
import type { StateValue } from 'xstate'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { StoredApiKey } from './records.ts'

export function keyState(
  { revoked_at, expires_at, webhook }: StoredApiKey,
  actor: Pick<ApiKeyActor, 'snapshot'> | undefined,
  now: number,
): string {
  if (revoked_at !== null) return 'revoked'
  // A live key learns that it has expired from the next call.
  if (expires_at !== null && Date.parse(expires_at) <= now) return 'expired'
  if (actor) return pathOf(actor.snapshot.value)
  return webhook ? 'usable.webhook' : 'usable.quiet'
}

function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value
  const [name = '', inside] = Object.entries(value)[0] ?? []
  return inside === undefined ? name : `${name}.${pathOf(inside)}`
}
