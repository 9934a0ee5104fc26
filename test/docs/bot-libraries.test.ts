/** docs/bot-libraries.md names the versions that the tests really run. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs', 'bot-libraries.md'), 'utf8')
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

t.test('the libraries that tests use stand there as they are installed', async (t) => {
  for (const [library, name] of Object.entries({ grammY: 'grammy', Telegraf: 'telegraf' })) {
    const row = page.split('\n').find((line) => line.startsWith(`| [${library}]`)) ?? ''
    t.equal(row.split(' | ')[1], devDependencies[name], library)
  }
})
