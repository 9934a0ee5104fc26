/** How long a key may work from now on. */
import type { Translate } from '../../i18n/translate.ts'

const lifetimes = ['never', '30', '90', '365'] as const

const DAY_MS = 86_400_000

export const lifetimeOptions = (t: Translate): readonly (readonly [string, string])[] =>
  lifetimes.map((days) => [
    days,
    days === 'never' ? t('keys.lifetime.never') : t('keys.lifetime.days', { days: Number(days) }),
  ])

/** As the service takes it: `null` when it never ends. */
export const expiryIn = (lifetime: string): string | null =>
  lifetime === 'never' ? null : new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString()
