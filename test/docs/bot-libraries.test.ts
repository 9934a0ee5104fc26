/** docs/bot-libraries.md shows the snippets and the results of the tests as they are now. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pageFile, readResults, withLibraries } from '../libraries/page.ts'
import { readSuiteResults, withSuites } from '../libraries/suites/page.ts'
import { sourceFolder } from '../libraries/toolchains.ts'

const results = readResults()

t.test('the page is what `npm run test:libraries -- --write` makes of the results', async (t) => {
  const page = readFileSync(pageFile, 'utf8')
  t.equal(withLibraries(page, results), page)
})

t.test(
  'the suites are what `npm run test:libraries -- --suites --write` makes of the results',
  async (t) => {
    const page = readFileSync(pageFile, 'utf8')
    t.equal(withSuites(page, readSuiteResults()), page)
  },
)

t.test('no library of the page has failed a step', async (t) => {
  for (const [name, { polling, webhook, sending }] of Object.entries(results)) {
    // A program may know only one of the ways.
    const scores = [polling, webhook, sending].filter((score) => score !== undefined)
    t.ok(scores.length > 0, name)
    for (const score of scores) t.match(score, /^(\d+)\/\1$/, name)
  }
})

t.test('no program of the page was handed an update twice', async (t) => {
  const counted = Object.values(results).flatMap(({ doubles }) => doubles ?? [])
  t.ok(counted.length > 0)
  for (const { received, sent } of counted) {
    t.equal(received, 0)
    t.ok(sent > 0)
  }
})

t.test('the versions of the page are those that the tests install', async (t) => {
  const manifest = readFileSync(join(sourceFolder('javascript'), 'package.json'), 'utf8')
  const { dependencies } = JSON.parse(manifest)
  const javascript = { grammY: 'grammy', Telegraf: 'telegraf', GramIO: 'gramio' }
  for (const [library, name] of Object.entries(javascript)) {
    t.equal(results[library]?.version, dependencies[name], library)
  }
  const python = readFileSync(join(sourceFolder('python'), 'requirements.txt'), 'utf8')
  for (const library of ['aiogram', 'pyTelegramBotAPI']) {
    t.ok(python.includes(`${library}==${results[library]?.version}\n`), library)
  }
})
