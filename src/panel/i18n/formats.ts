/** Times, spans and sizes in the reader's language and zone, and digits as the reader types them. */
import { useLanguage } from './language.tsx'

const ZEROS = [0x06f0, 0x0660]

/** Turns digits as Persian and Arabic keyboards type them into those that the service reads. */
export const latinDigits = (text: string): string =>
  text.replaceAll('٫', '.').replace(/[۰-۹٠-٩]/g, (digit) => {
    const code = digit.charCodeAt(0)
    return `${code - (ZEROS.find((zero) => code >= zero) ?? code)}`
  })

const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** One set for all components: a list that scrolls begins dozens of rows a second, and formats take long to make. */
const made = new Map<string, ReturnType<typeof formatsOf>>()

export function useFormats() {
  const { locale } = useLanguage()
  const known = made.get(locale)
  if (known) return known
  const formats = formatsOf(locale)
  made.set(locale, formats)
  return formats
}

/** Of the English ones, only the American short forms are those that "ago" has: "7.6 min", not "7.6 mins". */
const unitLocaleOf = (locale: string) => (locale.startsWith('en') ? 'en' : locale)

/** The short forms of bytes are "byte" for any number, and in Persian Latin letters. */
const displayOf = (name: string, locale: string) =>
  name === 'byte' || (name.endsWith('byte') && !locale.startsWith('en')) ? 'long' : 'short'

/** Isolated, so that the sign stays before the figure in a text from right to left. */
const lessThan = (figure: string) => `\u2068< ${figure}\u2069`

function moneyIn(locale: string, currency: string, amount: number): string {
  const sum = new Intl.NumberFormat(locale, { style: 'currency', currency })
  return sum.format(amount / 10 ** (sum.resolvedOptions().maximumFractionDigits ?? 2))
}

const unitFormat = (locale: string, name: string, digits: number) =>
  new Intl.NumberFormat(unitLocaleOf(locale), {
    style: 'unit',
    unit: name,
    unitDisplay: displayOf(name, locale),
    maximumFractionDigits: digits,
  })

/** Figures are counted by days of UTC: at the beginning of one it may be the day before where the reader is. */
function daysIn(locale: string) {
  const utc = { timeZone: 'UTC' } as const
  const short = { month: 'short', day: 'numeric' } as const
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const dayOfUtc = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...utc })
  const date = new Intl.DateTimeFormat(locale, short)
  const dateOfUtc = new Intl.DateTimeFormat(locale, { ...short, ...utc })
  return {
    day: (at: string | number) => day.format(new Date(at)),
    dayOfUtc: (at: string | number) => dayOfUtc.format(new Date(at)),
    /** A day of this year, short enough for an axis. */
    date: (at: string | number) => date.format(new Date(at)),
    dateOfUtc: (at: string | number) => dateOfUtc.format(new Date(at)),
  }
}

function formatsOf(locale: string) {
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
  const hour = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })
  const shares = new Intl.NumberFormat(locale, { style: 'percent' })
  const changes = new Intl.NumberFormat(locale, { style: 'percent', signDisplay: 'exceptZero' })
  const numbers = new Intl.NumberFormat(locale)
  const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  const units = new Map<string, Intl.NumberFormat>()
  const unit = (value: number, name: string, digits = 0) => {
    const key = `${name} ${digits}`
    const known = units.get(key) ?? unitFormat(locale, name, digits)
    units.set(key, known)
    return known.format(value)
  }

  return {
    number: (value: number) => numbers.format(value),
    compact: (value: number) => compact.format(value),
    /** By how much a value has changed, with its sign. */
    change: (value: number, before: number) => changes.format((value - before) / before),
    share(part: number, whole: number): string {
      const found = whole === 0 ? 0 : part / whole
      return found > 0 && found < 0.01 ? lessThan(shares.format(0.01)) : shares.format(found)
    },
    moment: (at: string | number) => full.format(new Date(at)),
    ...daysIn(locale),
    clock: (at: string | number) => clock.format(new Date(at)),
    hour: (at: string | number) => hour.format(new Date(at)),
    ago(at: string | number, now: number): string {
      const seconds = Math.round((new Date(at).getTime() - now) / 1000)
      const [name, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? steps[3]
      return relative.format(Math.trunc(seconds / size), name)
    },
    /** How long something took or lasted. */
    span(milliseconds: number): string {
      if (milliseconds < 1) return lessThan(unit(1, 'millisecond'))
      if (milliseconds < 1_000) return unit(Math.round(milliseconds), 'millisecond')
      const seconds = milliseconds / 1_000
      if (seconds < 60) return unit(seconds, 'second', 1)
      const [name, size] = steps.find(([, length]) => seconds >= length) ?? steps[2]
      return unit(seconds / size, name, 1)
    },
    /** An amount in the smallest unit of its currency; `XTR` are Telegram Stars. */
    money(amount: number, currency: string): string {
      if (currency === 'XTR') return `⭐ ${numbers.format(amount)}`
      return moneyIn(locale, currency, amount)
    },
    bytes(count: number): string {
      if (count < 1_000) return unit(count, 'byte')
      if (count < 1_000_000) return unit(count / 1_000, 'kilobyte', 1)
      return unit(count / 1_000_000, 'megabyte', 1)
    },
  }
}
