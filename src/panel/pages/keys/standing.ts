/** Whether a key still opens anything. */
import type { ApiKey } from '../../api/types.ts'
import type { Tone } from '../../ui/badge.tsx'

export type Standing = 'usable' | 'expired' | 'revoked'

export function standingOf({ revoked_at, expires_at }: ApiKey): Standing {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'usable'
}

export const standingTones: Readonly<Record<Standing, Tone>> = {
  usable: 'good',
  expired: 'bad',
  revoked: 'bad',
}
