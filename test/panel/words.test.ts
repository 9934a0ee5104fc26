/** Networks, their fields and their refusals have words in every language of the panel. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startService } from '../support/service.ts'

interface Translate {
  refusal(why: { readonly code: string; readonly params?: object }): string | undefined
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

interface Transition {
  readonly from: string | null
  readonly to: string | null
  readonly event: string
}

interface State {
  readonly path: string
  readonly meta: object
}

t.test('every event that leads from state to state in a chart', async (t) => {
  const service = await startService(t)
  const client = await service.client()
  for (const machine of ['credential', 'api_key', 'supervision', 'node']) {
    const { transitions } = await client.result('GET', `/machines/${machine}`)
    const moving = (transitions as Transition[]).filter(({ from, to }) => to && from !== to)
    t.ok(moving.length > 1, machine)
    for (const { event } of moving) {
      if (event === 'always') continue
      t.ok(catalogues.en[`arrow.${event}`], `${machine}: ${event}`)
      t.ok(catalogues.fa[`arrow.${event}`], `${machine}: ${event}`)
    }
  }
})

t.test('every state of a chart', async (t) => {
  const service = await startService(t)
  const client = await service.client()
  const groups = {
    credential: 'inner',
    api_key: 'keyState',
    supervision: 'keyState',
    node: 'nodeState',
  }
  for (const [machine, group] of Object.entries(groups)) {
    const { states } = await client.result('GET', `/machines/${machine}`)
    const told = (states as State[]).filter(({ meta }) => 'state' in meta)
    // What lies within a state that people are told of is not drawn.
    const isDrawn = ({ path }: State) => !told.some((one) => path.startsWith(`${one.path}.`))
    const drawn = (states as State[]).filter(isDrawn)
    t.ok(drawn.length > 1, machine)
    for (const { path } of drawn) {
      t.ok(catalogues.en[`${group}.${path}`], `${machine}: ${path}`)
      t.ok(catalogues.fa[`${group}.${path}`], `${machine}: ${path}`)
    }
  }
})

t.test('every network and what it wants to know first', async (t) => {
  const service = await startService(t)
  const client = await service.client()
  for (const { platform, link } of await client.result('GET', '/platforms')) {
    t.ok(catalogues.fa[`platform.${platform}`], platform)
    t.ok(catalogues.fa[`linking.about.${platform}`], platform)
    for (const { method, fields } of link) {
      t.ok(catalogues.fa[`linking.by.${method}`], method)
      for (const { name } of fields) t.ok(catalogues.fa[`linking.field.${name}`], name)
    }
  }
})

t.test('what a network answers to a link', async (t) => {
  const said = (code: string, params = {}) => persian.refusal({ code, params })
  t.equal(said('token_refused', { platform: 'Bale' }), 'Bale توکن را نپذیرفت')
  t.match(said('platform_unreachable', { platform: 'Telegram bots' }), /^Telegram bots در/)
  t.match(said('webhook_set', { host: 'a.example' }), /وب‌هوکی در a\.example می‌فرستد/)
  t.equal(said('no_encryption'), catalogues.fa['refusal.no_encryption'])
  t.equal(said('bad_answer'), catalogues.fa['explained.bad_answer'], 'a reason of the account')
  t.equal(said('of_a_later_version'), undefined)
})
