/** Writes out what tap knows about a failure. */
import type { Result } from 'tap-parser'

/** How the file was run: the same for every failure in it. */
const uninteresting = new Set([
  'stdio',
  'cwd',
  'externalID',
  'command',
  'args',
  'source',
  'file',
  'jobId',
])

interface Place {
  readonly fileName?: string
  readonly lineNumber?: number
  readonly columnNumber?: number
}

const place = ({ fileName, lineNumber, columnNumber }: Place) =>
  `${fileName}:${lineNumber}:${columnNumber}`

function valueText(key: string, value: unknown): string {
  if (typeof value === 'string') return value.trimEnd().replaceAll('\n', '\n      ')
  return key === 'at' ? place(value as Place) : JSON.stringify(value)
}

export function describeFailure({ diag }: Result): string {
  return Object.entries(diag ?? {})
    .filter(([key, value]) => !uninteresting.has(key) && value !== null)
    .map(([key, value]) => `\n    ${key}: ${valueText(key, value)}`)
    .join('')
}
