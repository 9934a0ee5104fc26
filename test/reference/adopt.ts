/** `npm run adopt-reference -- FOLDER`: writes the tables anew out of a package like `@gramio/types`. */
import { writeFile } from 'node:fs/promises'
import { REFERENCE_VERSION, reference } from '../../src/bot-api/reference.ts'
import { declarationsAsked, folderAsked } from './declarations.ts'
import { difference } from './difference.ts'
import { RESULT_SCHEMAS_FILE, resultSchemasText } from './result-schemas.ts'
import { readShapes, SHAPES_FILE, shapesText } from './shapes.ts'
import { TABLE_FILE, tableText } from './table.ts'

const declarations = declarationsAsked()
const lines = difference(reference, declarations.methods)
const shapes = readShapes(folderAsked())
const schemas = resultSchemasText(shapes)
await writeFile(TABLE_FILE, tableText(declarations))
await writeFile(SHAPES_FILE, shapesText(shapes))
await writeFile(RESULT_SCHEMAS_FILE, schemas)
process.stdout.write(
  `${[
    `the reference was ${REFERENCE_VERSION} and is ${declarations.version}`,
    ...lines,
    `${lines.length} differences`,
  ].join('\n')}\n`,
)
