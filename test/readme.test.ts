/** The README knows every variable that the service reads, and the pages for engineers name no path that is gone. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { variableNames } from '../src/config/config.ts'

const root = join(import.meta.dirname, '..')
const read = (page: string) => readFileSync(join(root, page), 'utf8')
const readme = read('README.md')

t.test('every variable has its place in the configuration table', async (t) => {
  for (const name of variableNames) t.ok(readme.includes(`\`${name}\``), name)
})

/** Paths from the root; one with a placeholder (`src/platforms/<name>/`) counts up to there. */
const paths = /(?<![\w./-])(?:src|actors|machines|test|bench|bin|docs)\/[\w./-]*\w/g
/** The names of files without their folder: a reader could not find them. */
const bareNames = /`[\w-]+\.(?:ts|tsx|mjs)`/g

t.test('every path that the pages for engineers name is there', async (t) => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: root })]
  for (const page of pages) {
    for (const [path] of read(page).matchAll(paths)) {
      t.ok(existsSync(join(root, path)), `${page}: ${path}`)
    }
  }
  for (const page of pages.filter((page) => page !== 'README.md')) {
    t.same(read(page).match(bareNames) ?? [], [], page)
  }
})

t.test('the drawing in CONTRIBUTING.md shows every room', async (t) => {
  const [, drawing = ''] = /## The rooms\n+```\n(.+?)```/s.exec(read('CONTRIBUTING.md')) ?? []
  for (const layer of ['src', 'actors', 'machines', 'src/platforms']) {
    const rooms = readdirSync(join(root, layer), { withFileTypes: true })
    for (const { name } of rooms.filter((room) => room.isDirectory())) {
      t.match(drawing, new RegExp(`\\b${name}[/,}]`), `${layer}/${name}`)
    }
  }
})
