/** The message catalogues: the same messages with the same values in every language, and each of them used. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const panel = join(import.meta.dirname, '../../src/panel')
const read = (path: string) => readFileSync(join(panel, path), 'utf8')

const areas = globSync('i18n/en/*.json', { cwd: panel }).map((path) =>
  path.slice('i18n/en/'.length),
)
const catalogue = (language: string, area: string): Readonly<Record<string, string>> =>
  JSON.parse(read(`i18n/${language}/${area}`))
const valuesIn = (message = '') => [...message.matchAll(/\{\w+\}/g)].map(([value]) => value).sort()

for (const area of areas) {
  t.test(`${area} says the same in Persian`, async (t) => {
    const en = catalogue('en', area)
    const fa = catalogue('fa', area)
    t.same(Object.keys(fa).sort(), Object.keys(en).sort())
    for (const [key, message] of Object.entries(en)) {
      t.same(valuesIn(fa[key]), valuesIn(message), key)
      t.ok(fa[key]?.trim(), key)
    }
  })
}

t.test('no key is in two catalogues', async (t) => {
  const keys = areas.flatMap((area) => Object.keys(catalogue('en', area)))
  t.same(
    keys.filter((key, place) => keys.indexOf(key) !== place),
    [],
  )
})

t.test('every message is used somewhere', async (t) => {
  const code = globSync('**/*.{ts,tsx}', { cwd: panel }).map(read).join('\n')
  /** Keys whose end is only known while running: `t.word('state', …)`, `keys.tab.${tab}`, counted ones. */
  const stems = [
    ...[...code.matchAll(/(?:\.word|\bknown)\(\s*'([\w.]+)'/g)].map(([, group]) => `${group}.`),
    ...[...code.matchAll(/`([\w.]+\.)\$\{/g)].map(([, stem]) => stem ?? ''),
    ...[...code.matchAll(/\.count\(\s*'([\w.]+)'/g)].map(([, stem]) => `${stem}.`),
  ]
  for (const key of areas.flatMap((area) => Object.keys(catalogue('en', area)))) {
    const isUsed = code.includes(`'${key}'`) || stems.some((stem) => key.startsWith(stem))
    t.ok(isUsed, key)
  }
})

t.test('the small Persian font has every letter of the catalogue', async (t) => {
  const [, list = ''] =
    /persian\.woff2[^}]*unicode-range:([^;]*)/.exec(read('styles/fonts.css')) ?? []
  const ranges = [...list.matchAll(/U\+([\dA-F]+)(?:-([\dA-F]+))?/g)].map(
    ([, from = '', to = from]) => [Number.parseInt(from, 16), Number.parseInt(to, 16)],
  )
  t.ok(ranges.length > 10)
  const text = areas.flatMap((area) => Object.values(catalogue('fa', area))).join('')
  const letters = new Set(text.match(/[\p{Script_Extensions=Arabic}\u200c]/gu))
  const lacking = [...letters].filter((letter) => {
    const code = letter.codePointAt(0) ?? 0
    return !ranges.some(([from = 0, to = 0]) => from <= code && code <= to)
  })
  t.same(lacking, [])
})

/** What is found has the word behind it: one thing has one word. */
const replaced = {
  en: [
    [/\bcredentials?\b/i, 'account'],
    [/\blogged[ -]out\b/i, 'signed out'],
    [/\bemail\b/i, 'e-mail'],
  ],
  fa: [
    [/سندباکس/, 'محیط آزمایشی'],
    [/بازبینی/, 'گزارش تغییرات'],
    [/(?<!\p{L})(?:آن|این)ها/u, 'آن‌ها، این‌ها'],
    [/دوبارهٔ[^؛.]*از نو/, 'دوبارهٔ'],
    [/آپدیت/, 'به‌روزرسانی'],
    [/گفت‌وگو|(?<![\p{L}\u200c])چت/u, 'گفتگو'],
    [/جست‌وجو/, 'جستجو'],
    [/صافی|فیلتر/, 'پالایه'],
    [/رایانامه/, 'ایمیل'],
    [/پرونده/, 'فایل'],
    [/(?<!\p{L})متصل/u, 'پیوندخورده، وصل'],
    [/(?<!\p{L})رمز(?!\p{L}*نگاری|گذاری)/u, 'راز، گذرواژه'],
  ],
} as const

for (const [language, words] of Object.entries(replaced)) {
  t.test(`one thing has one word in ${language}`, async (t) => {
    for (const area of areas) {
      for (const [key, message] of Object.entries(catalogue(language, area))) {
        for (const [word, better] of words) t.notMatch(message, word, `${key}: say ${better}`)
      }
    }
  })
}

t.test('an incident is no event in Persian, and is made quiet, not switched off', async (t) => {
  const messages = Object.entries(catalogue('fa', 'alerts.json'))
  for (const [key, message] of messages) t.notMatch(message, /رویداد|خاموش/, key)
  const { 'hint.silence': hint, 'hint.silence.title': title } = catalogue('fa', 'common.json')
  t.notMatch(`${title} ${hint}`, /رویداد|خاموش/)
})

t.test('Persian text has Persian digits, except in what a program reads or says', async (t) => {
  /** Addresses, phones, tokens, an example of a header, and the codes of HTTP. */
  const ofPrograms = /\S*[A-Za-z+]\S*|(?<!\S)[1-5]\d\d(?!\S)/g
  for (const [key, message] of areas.flatMap((area) => Object.entries(catalogue('fa', area)))) {
    t.notMatch(message, /[۰-۹][A-Za-z]|[A-Za-z][۰-۹]/, key)
    t.notMatch(message.replace(/X-Tenant: 7/, '').replaceAll(ofPrograms, ''), /\d/, key)
  }
})
