/** Writes docs/bot-libraries.md: how each library is given the address, and how far it came in the last run. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mode } from './bot-process.ts'
import { type Library, libraries } from './catalogue.ts'
import type { Doubles } from './stage.ts'
import { sourceFolder, type Toolchain } from './toolchains.ts'

/** Of the steps that the library and the sandbox both have, so many passed: `45/45`. */
export interface Result extends Readonly<Partial<Record<Mode, string>>> {
  readonly version: string
  /** Of a program: all its trials together. */
  readonly doubles?: Readonly<Doubles>
}

export type Results = Readonly<Record<string, Result>>

export const resultsFile = join(import.meta.dirname, 'results.json')
export const pageFile = join(import.meta.dirname, '../../docs/bot-libraries.md')

export const readResults = (): Results => JSON.parse(readFileSync(resultsFile, 'utf8'))

const begin = '<!-- libraries: written by `npm run test:libraries -- --write` -->'
const end = '<!-- end of libraries -->'

const fences: Readonly<Record<Toolchain, string>> = {
  python: 'python',
  telegrinder: 'python',
  nonebot: 'python',
  javascript: 'js',
  go: 'go',
  rust: 'rust',
  java: 'java',
  alertmanager: 'yaml',
  'node-red': 'js',
  n8n: 'js',
  openclaw: 'js',
  hermes: 'python',
  'home-assistant': 'python',
}

/** The page with its generated part made anew. */
export function withLibraries(page: string, results: Results): string {
  const [before, rest = ''] = page.split(begin)
  const [, after] = rest.split(end)
  if (after === undefined) throw new Error('docs/bot-libraries.md has lost its markers')
  const shown = libraries.filter(({ name }) => results[name])
  const rows = shown.map((library) => row(library, results[library.name]!))
  const head = '| Library | Version | Polling | Webhook | Sending alone |\n|---|---|---|---|---|'
  const parts = [[head, ...rows].join('\n'), ...restarts(results), ...shown.map(section)]
  return `${before}${begin}\n\n${parts.join('\n\n')}\n\n${end}${after}`
}

function row({ name, page }: Library, { version, polling, webhook, sending }: Result): string {
  const scores = [polling, webhook, sending].map((score) => score ?? '–')
  return `| ${[`[${name}](${page})`, version, ...scores].join(' | ')} |`
}

/** Nothing where no program was counted. */
function restarts(results: Results): readonly string[] {
  const rows = libraries.flatMap(({ name }) => {
    const { doubles, sending } = results[name] ?? {}
    if (!doubles) return []
    const { sent, arrived, abandoned, repeated } = doubles
    const received = sending === undefined ? doubles.received : '–'
    return [`| ${[name, received, sent, arrived, abandoned, repeated].join(' | ')} |`]
  })
  const columns = [
    'Program',
    'Updates taken twice',
    'Messages around the restart',
    'of these arrived twice',
    'of these given up',
    'Sent again after a lost answer',
  ]
  const head = `| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}`
  return rows.length === 0
    ? []
    : [`### Over a restart\n\n${ABOUT}\n\n${[head, ...rows].join('\n')}`]
}

const ABOUT = `It is counted what comes twice while the service restarts: updates that are handed over once more after they were taken, and
messages that are sent before, while it stops, while it is away, and after. No message arrives more often than the program has
asked for it, and one whose call was answered arrives. Where nobody answers, because the service is away, some give the message
up, and some send it again. These also send again what has arrived if only the answer was lost: the last column says how often
after one lost answer, and the message arrives as many times more. The service cannot tell it from a message that is meant
twice, unless both calls have the same \`Idempotency-Key\`.`

const section = (library: Library) =>
  `### ${library.name}\n\n\`\`\`${fences[library.toolchain]}\n${snippetOf(library)}\n\`\`\``

/** The lines between the marks of the adapter, which are the ones that the test runs. */
export function snippetOf({ toolchain, adapter }: Library): string {
  const lines = readFileSync(join(sourceFolder(toolchain), adapter), 'utf8').split('\n')
  const first = lines.findIndex((line) => /^\s*(#|\/\/) snippet$/.test(line))
  const last = lines.findIndex((line) => /^\s*(#|\/\/) end$/.test(line))
  if (first < 0 || last < first) throw new Error(`${adapter} marks no snippet`)
  const chosen = lines.slice(first + 1, last)
  const indent = Math.min(
    ...chosen.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length),
  )
  return chosen.map((line) => line.slice(indent)).join('\n')
}
