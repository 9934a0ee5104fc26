/** The version of this build, as package.json has it. */
import { readFileSync } from 'node:fs'

const file = new URL('../../package.json', import.meta.url)

export const VERSION: string = JSON.parse(readFileSync(file, 'utf8')).version
