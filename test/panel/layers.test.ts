/** The panel runs alone: of the service it imports types and shared rules, and the service imports nothing of it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '../..')
const find = (pattern: string) => globSync(pattern, { cwd: root }).sort()
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const importsOf = (file: string) =>
  [...read(file).matchAll(/^(?:[^'`]* from|import) '([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    ([, by = '', called = '']) => by || called,
  )

const panel = find('src/panel/**/*.{ts,tsx}')
const { dependencies } = JSON.parse(read('package.json'))

/** Records, schemas of routes and codes of the service: the panel may import their types, not their code. */
const hasTypes = (target: string) =>
  /^(src\/records|machines)\//.test(target) ||
  /^src\/http\/sandbox\/([a-z]+-)?schemas\.ts$/.test(target)
/** Rules by which both decide; they need nothing of the service to run. */
const rules = [
  'machines/api-key/events.ts',
  'machines/model/update-kinds.ts',
  'src/audit/actions.ts',
  'src/bot-api/reference.ts',
]
const typesOf = (file: string) =>
  [...read(file).matchAll(/^import type [^'`]* from '([^']+)'/gm)].map(([, by = '']) => by)

t.test('the panel imports itself, shared types and rules, and packages of its own', async (t) => {
  t.ok(panel.length > 80)
  for (const file of panel) {
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith('.')) {
        const target = join(file, '..', specifier)
        const isType = hasTypes(target) && typesOf(file).includes(specifier)
        t.ok(
          target.startsWith('src/panel/') || rules.includes(target) || isType,
          `${file} imports ${specifier}`,
        )
      } else {
        const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
        t.ok(name in dependencies && !name.startsWith('node:'), `${file} imports ${specifier}`)
      }
    }
  }
})

t.test('the service imports nothing of the panel', async (t) => {
  for (const file of find('src/**/*.ts').filter((file) => !file.startsWith('src/panel/'))) {
    t.notOk(
      importsOf(file).some((specifier) => /(^|\/)panel\//.test(specifier)),
      file,
    )
  }
})

t.test(
  'its files are short, say what they are, and put no markup together from strings',
  async (t) => {
    for (const file of panel) {
      const text = read(file)
      t.ok(text.trimEnd().split('\n').length <= 400, `${file} is long`)
      t.match(text.split('\n')[0], /^\/\*\* .+/, file)
      t.notMatch(text, /dangerouslySetInnerHTML|innerHTML|\bconsole\./, file)
    }
  },
)

t.test('a toast is taken for a dialog by no test', async (t) => {
  const found = find('test/**/*.ts').filter((file) => /getByRole\('[d]ialog'\)/.test(read(file)))
  t.same(found, ['test/panel/dialog.ts'])
})
