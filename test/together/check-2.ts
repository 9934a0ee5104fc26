/** Part 2 of the test files of `npm run check`. */
import { runShare } from './share.ts'

runShare('check', 2)
