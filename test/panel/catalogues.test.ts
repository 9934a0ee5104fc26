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
