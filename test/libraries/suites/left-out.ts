/** The tests of a suite that cannot pass here: `test | reason` a line; `*` at either end stands for any words. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface LeftOut {
  has(test: string): boolean
  /** Lines for none of these tests. A reason that no longer holds would hide what fails later. */
  notAmong(failed: readonly string[]): readonly string[]
}

export async function leftOutOf(suite: string): Promise<LeftOut> {
  const path = join(import.meta.dirname, `${suite.replaceAll('/', '-')}.txt`)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const named = lines.map((line) => line.split(' | ')[0] ?? '')
  return {
    has: (test) => named.some((name) => isMeant(name, test)),
    notAmong: (failed) => named.filter((name) => !failed.some((test) => isMeant(name, test))),
  }
}

function isMeant(name: string, test: string): boolean {
  if (name.startsWith('*')) return test.endsWith(name.slice(1))
  if (name.endsWith('*')) return test.startsWith(name.slice(0, -1))
  return test === name
}
