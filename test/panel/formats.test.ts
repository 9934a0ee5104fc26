/** Numbers with their units, in the words and the plurals of each language; and answers laid out with theirs as they are. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import fc from '../support/fast-check.ts'

interface Formats {
  bytes(count: number): string
  span(milliseconds: number): string
  share(part: number, whole: number): string
  change(value: number, before: number): string
  compact(value: number): string
  ago(at: number, now: number): string
  money(amount: number, currency: string): string
}

/** The language of the page, which is a component of React. */
const spoken = `let locale
export const speak = (next) => { locale = next }
export const useLanguage = () => ({ locale })`

const i18n = join(import.meta.dirname, '../../src/panel/i18n')
const hooks = registerHooks({
  load: (url, context, next) =>
    url.endsWith('/i18n/language.tsx')
      ? { format: 'module', source: spoken, shortCircuit: true }
      : next(url, context),
})
// The panel is checked by a project of its own.
const { useFormats } = (await import(join(i18n, 'formats.ts'))) as { useFormats(): Formats }
const { speak } = (await import(join(i18n, 'language.tsx'))) as { speak(locale: string): void }
hooks.deregister()
const sending = join(import.meta.dirname, '../../src/panel/pages/explorer/sending.ts')
const { laidOut } = (await import(sending)) as { laidOut(body: string): string }

function formatsIn(locale: string): Formats {
  speak(locale)
  return useFormats()
}
const en = formatsIn('en-GB')
const fa = formatsIn('fa-IR')
/** Without the marks that keep a sign beside its figure, and with plain spaces. */
const plain = (text: string) => text.replace(/[\u2066-\u2069\u200e\u200f]/g, '').replace(/\s/g, ' ')

t.test('sizes', async (t) => {
  for (const [count, english, persian] of [
    [0, '0 bytes', '۰ بایت'],
    [1, '1 byte', '۱ بایت'],
    [2, '2 bytes', '۲ بایت'],
    [999, '999 bytes', '۹۹۹ بایت'],
    [1_000, '1 kB', '۱ کیلوبایت'],
    [1_500, '1.5 kB', '۱٫۵ کیلوبایت'],
    [2_340_000, '2.3 MB', '۲٫۳ مگابایت'],
  ] as const) {
    t.equal(plain(en.bytes(count)), english)
    t.equal(plain(fa.bytes(count)), persian)
  }
})

t.test('spans', async (t) => {
  for (const [milliseconds, english, persian] of [
    [0.2, '< 1 ms', '< ۱ میلی‌ثانیه'],
    [250, '250 ms', '۲۵۰ میلی‌ثانیه'],
    [1_000, '1 sec', '۱ ثانیه'],
    [5_000, '5 sec', '۵ ثانیه'],
    [5_700, '5.7 sec', '۵٫۷ ثانیه'],
    [60_000, '1 min', '۱ دقیقه'],
    [456_000, '7.6 min', '۷٫۶ دقیقه'],
    [7_200_000, '2 hr', '۲ ساعت'],
    [86_400_000, '1 day', '۱ روز'],
    [216_000_000, '2.5 days', '۲٫۵ روز'],
  ] as const) {
    t.equal(plain(en.span(milliseconds)), english)
    t.equal(plain(fa.span(milliseconds)), persian)
  }
})

t.test('a span and how long ago something was have the same short forms', async (t) => {
  const now = Date.UTC(2026, 0, 1)
  t.equal(plain(en.ago(now - 420_000, now)), '7 min ago')
  t.equal(plain(en.ago(now - 5_000, now)), '5 sec ago')
  t.match(plain(fa.ago(now - 420_000, now)), /^۷ دقیقه/)
})

t.test('shares and changes', async (t) => {
  for (const [part, whole, english, persian] of [
    [0, 0, '0%', '۰٪'],
    [1, 3, '33%', '۳۳٪'],
    [1, 1_000, '< 1%', '< ۱٪'],
    [7, 7, '100%', '۱۰۰٪'],
  ] as const) {
    t.equal(plain(en.share(part, whole)), english)
    t.equal(plain(fa.share(part, whole)), persian)
  }
  t.equal(plain(en.change(15, 10)), '+50%')
  t.equal(plain(en.change(5, 10)), '-50%')
  t.equal(plain(fa.change(15, 10)), '+۵۰٪')
})

t.test('large numbers and money', async (t) => {
  t.equal(plain(en.compact(12_345)), '12.3k')
  t.equal(plain(fa.compact(12_345)), '۱۲٫۳ هزار')
  t.equal(plain(en.money(1_050, 'USD')), 'US$10.50')
  t.equal(en.money(50, 'XTR'), '⭐ 50')
  t.equal(fa.money(50, 'XTR'), '⭐ ۵۰')
})

t.test('an answer is laid out, and its numbers stay as they were written', async (t) => {
  t.equal(
    laidOut('{"id":1234567890123456789,"sum":1.50,"of":[-1e400,{}, [ ]],"\\u0633":"\\u0633: {,}"}'),
    `{
  "id": 1234567890123456789,
  "sum": 1.50,
  "of": [
    -1e400,
    {},
    []
  ],
  "س": "س: {,}"
}`,
  )
  for (const text of ['', 'no JSON {', '{"cut":"of']) t.equal(laidOut(text), text)
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      return laidOut(text) === JSON.stringify(JSON.parse(text), null, 2)
    }),
  )
})
