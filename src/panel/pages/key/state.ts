/** Where the machine of a key is, by what its record says. */
import type { ApiKey } from '../../api/types.ts'

export function stateOf(key: ApiKey, now: number): string {
  if (key.revoked_at !== null) return 'revoked'
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return 'expired'
  return key.receive_mode === 'webhook' ? 'usable.webhook' : 'usable.quiet'
}

export const toneOf = (state: string) => (state.startsWith('usable') ? 'good' : 'bad')
