/** `npm run adopt-reference -- FOLDER`: writes the table anew out of a package like `@gramio/types`. */
import { writeFile } from 'node:fs/promises'
import { REFERENCE_VERSION, reference } from '../../src/bot-api/reference.ts'
import { declarationsAsked } from './declarations.ts'
import { difference } from './difference.ts'
import { TABLE_FILE, tableText } from './table.ts'

const declarations = declarationsAsked()
const lines = difference(reference, declarations.methods)
await writeFile(TABLE_FILE, tableText(declarations))
process.stdout.write(
  `${[
    `the reference was ${REFERENCE_VERSION} and is ${declarations.version}`,
    ...lines,
    `${lines.length} differences`,
  ].join('\n')}\n`,
)
