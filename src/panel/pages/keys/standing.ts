/** Whether a key still opens anything. */
import type { ApiKey } from '../../api/types.ts'
import type { Tone } from '../../ui/badge.tsx'
import { useNow } from '../../ui/time.tsx'

export type Standing = 'usable' | 'expired' | 'revoked'

/** A key expires while it is looked at, too. */
export function useStanding({ revoked_at, expires_at }: ApiKey): Standing {
  const now = useNow()
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'usable'
}

export const standingTones: Readonly<Record<Standing, Tone>> = {
  usable: 'good',
  expired: 'bad',
  revoked: 'bad',
}
