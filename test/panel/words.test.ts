/** What the service calls by a word of its own has one in every language of the panel: reasons, networks, fields, refusals. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startService } from '../support/service.ts'

interface Translate {
  known(group: string, sentence: string): string
  word(group: string, word: string): string
}

interface Translating {
  translator(catalogue: object, language: string): Translate
}

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const messages = 'src/panel/i18n'
// The panel is checked by a project of its own.
const { translator } = (await import(join(root, messages, 'translate.ts'))) as Translating
const catalogueOf = (language: string): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...globSync(`${messages}/${language}/*.json`, { cwd: root }).map((path) =>
      JSON.parse(read(path)),
    ),
  )
const catalogues = { en: catalogueOf('en'), fa: catalogueOf('fa') }
const persian = translator(catalogues.fa, 'fa')

const allIn = (form: RegExp, ...places: string[]): string[] => {
  const code = places.flatMap((place) => globSync(place, { cwd: root })).map(read)
  return [...new Set(code.flatMap((text) => [...text.matchAll(form)].map(([, found]) => found!)))]
}

t.test('every network and what it wants to know first', async (t) => {
  const service = await startService(t)
  const client = await service.client()
  for (const { platform, link } of await client.result('GET', '/platforms')) {
    t.ok(catalogues.fa[`platform.${platform}`], platform)
    for (const { method, fields } of link) {
      t.ok(catalogues.fa[`linking.by.${method}`], method)
      for (const { name } of fields) t.ok(catalogues.fa[`linking.field.${name}`], name)
    }
  }
})

t.test('what a network answers to somebody who links', async (t) => {
  const places = ['src/platforms/*/link.ts', 'src/platforms/*/link/*.ts']
  const said = allIn(/description(?::| =)\s+'([^']+)'/g, ...places)
  t.ok(said.length > 5)
  for (const sentence of said) t.not(persian.known('refusal', sentence), sentence, sentence)
  const webhook =
    'the bot delivers its updates to a webhook at a.example; ' +
    'delete it there, or link again with "delete_webhook": "true"'
  for (const sentence of ['Bale refused the token', 'Telegram bots cannot be reached', webhook]) {
    t.not(persian.known('refusal', sentence), sentence)
  }
})
