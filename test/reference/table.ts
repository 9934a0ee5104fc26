/** The committed table of the reference, as text: what `npm run adopt-reference` writes. */
import { join } from 'node:path'
import type { Declarations, DeclaredParameter } from './declarations.ts'
import { word } from './difference.ts'

export const TABLE_FILE = join(import.meta.dirname, '../../src/bot-api/reference-table.ts')

/** The formatter's width: what is longer stands in a line of its own. */
const WIDTH = 100

export function tableText({ version, methods }: Declarations): string {
  const entries = [...methods].map(([name, parameters]) => entry(name, parameters))
  return `/** The methods of the reference, as \`npm run adopt-reference\` writes them; do not edit by hand. */

export const REFERENCE_VERSION = '${version}'

/** Each parameter as \`name:type\`, with \`!\` where it is required, in the reference's order. */
export const table = {
${entries.join('\n')}
} as const
`
}

function entry(name: string, parameters: readonly DeclaredParameter[]): string {
  const line = `  ${name}: '${parameters.map(word).join(' ')}',`
  return line.length <= WIDTH ? line : line.replace(': ', ':\n    ')
}
