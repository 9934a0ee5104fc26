/** How a key that still opens, has expired or was revoked is shown. */
import type { Standing } from '../../../../machines/api-key/terms.ts'
import type { Tone } from '../../ui/badge.tsx'

export const standingTones: Readonly<Record<Standing, Tone>> = {
  usable: 'good',
  expired: 'bad',
  revoked: 'bad',
}
