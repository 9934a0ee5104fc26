/** What became of the tests of a suite, read from the report that nearly all runners can write. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Environment, type Outcome, run } from './suite.ts'

/** Runs a command whose report, a file or a folder of files, is in the form that JUnit has made common. */
export async function reported(
  command: readonly string[],
  folder: string,
  env: Environment,
  report = 'report.xml',
): Promise<Outcome[]> {
  const { stdout, stderr } = await run(command, folder, env)
  try {
    return (await textsOf(join(folder, report))).flatMap(outcomesIn)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`${command[0]} wrote no report: ${`${stdout}${stderr}`.slice(-3_000)}`)
  }
}

async function textsOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [await readFile(path, 'utf8')]
  const names = (await readdir(path)).filter((name) => name.endsWith('.xml'))
  return Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
}

const testCase = /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g

/** Of the tests in one file. */
export const outcomesIn = (text: string): Outcome[] =>
  [...text.matchAll(testCase)].map(([, attributes = '', inside = '']) => {
    const name = nameOf(attribute(attributes, 'classname'), attribute(attributes, 'name'))
    const [, kind, terms = '', told = ''] =
      /<(failure|error|skipped)\b([^>]*?)(?:\/>|>([\s\S]*?)<\/\1>)/.exec(inside) ?? []
    if (kind === undefined) return { name, verdict: 'passed', reason: '' }
    // The authors excuse what a server that is busy may refuse: this one is not.
    const isExcused = attribute(terms, 'type') === 'pytest.xfail'
    const where = /at .*Test\.java:\d+\)/.exec(told)?.[0] ?? ''
    const reason = `${attribute(terms, 'message')} ${where}`.trim() || plain(told)
    return { name, verdict: kind === 'skipped' && !isExcused ? 'skipped' : 'failed', reason }
  })

/** Without packages and files, and without the signs between its parts. */
const nameOf = (place: string, name: string) =>
  `${place} ${name}`
    .replace(/^(\w+\.)+(?=\w+ )|^\S+\.test\.ts /, '')
    .replaceAll(' > ', ' ')
    .replaceAll('\n', ' ')
    .trim()

const attribute = (attributes: string, name: string) =>
  plain(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')

const entities: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  amp: '&',
}
const plain = (text: string) =>
  text
    .replaceAll(/^\s*<!\[CDATA\[|\]\]>\s*$/g, '')
    .replaceAll(/&(?:#(x?)([\da-f]+)|(\w+));/gi, (_, hex, digits, name) =>
      name
        ? (entities[name] ?? name)
        : String.fromCodePoint(Number.parseInt(digits, hex ? 16 : 10)),
    )
