/** What became of the tests of a suite, read from the report of its runner. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Outcome {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'skipped'
  readonly reason?: string
}

const verdictOf = (status: string): Outcome['verdict'] =>
  status === 'passed' || status === 'failed' ? status : 'skipped'

interface JestReport {
  testResults: {
    message: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

export async function outcomesOfJest(file: string): Promise<Outcome[]> {
  const { testResults }: JestReport = JSON.parse(await readFile(file, 'utf8'))
  return testResults.flatMap(({ message, assertionResults }) => {
    if (assertionResults.length === 0) throw new Error(message)
    return assertionResults.map(({ fullName, status, failureMessages }) => ({
      name: fullName,
      verdict: verdictOf(status),
      reason: failureMessages.join('\n'),
    }))
  })
}

interface MochaTest {
  fullTitle: string
  err: { message?: string }
}

export async function outcomesOfMocha(file: string): Promise<Outcome[]> {
  const text = await readFile(file, 'utf8')
  const { passes, failures, pending } = JSON.parse(text.slice(text.indexOf('{\n  "stats"')))
  const all = (tests: MochaTest[], verdict: Outcome['verdict']) =>
    tests.map(({ fullTitle, err }) => ({
      name: fullTitle,
      verdict,
      ...(err.message !== undefined && { reason: err.message }),
    }))
  return [...all(passes, 'passed'), ...all(failures, 'failed'), ...all(pending, 'skipped')]
}

const entities: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&apos;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&#10;': '\n',
}
const plain = (text: string) =>
  text.replace(/&(quot|apos|lt|gt|amp|#10);/g, (found) => entities[found] ?? found)

const testCase = /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g
const attribute = (attributes: string, name: string) =>
  plain(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')

/** From the files of a folder in the form that JUnit has made common. */
export async function outcomesOfJUnit(folder: string): Promise<Outcome[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.xml'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap((text) =>
    [...text.matchAll(testCase)].map(([, attributes = '', inside = '']) => {
      const [, told] = /<(?:failure|error)\b([^>]*)/.exec(inside) ?? []
      const place = attribute(attributes, 'classname').split('.').at(-1)
      const name = `${place} ${attribute(attributes, 'name')}`
      if (told === undefined) {
        return { name, verdict: inside.includes('<skipped') ? 'skipped' : 'passed' }
      }
      const where = /at .*Test\.java:\d+\)/.exec(inside)?.[0] ?? ''
      const reason = `${attribute(told, 'type')} ${attribute(told, 'message')} ${where}`
      return { name, verdict: 'failed', reason }
    }),
  )
}
