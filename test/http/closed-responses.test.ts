/** A response that has closed says so no more: whoever waits for it after something else asks first, by `onClosed`. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

/** Here nothing is waited for before; `forwarding.ts` asks by itself. */
const reviewed = [
  'connections.ts',
  'gone-signal.ts',
  'nodes/forwarding.ts',
  'request-log.ts',
  'server.ts',
]

t.test('only reviewed files wait for the close of a response', async (t) => {
  const folder = join(import.meta.dirname, '../../src/http')
  const waits = /\b(?:raw|response|answer)\.(?:on|once)\('close'/
  const found = globSync('**/*.ts', { cwd: folder }).filter((file) =>
    waits.test(readFileSync(join(folder, file), 'utf8')),
  )
  t.same(found.sort(), reviewed)
})
