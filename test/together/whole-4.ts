/** Part 4 of the test files that only the whole run has. */
import { runShare } from './share.ts'

runShare('whole', 4)
