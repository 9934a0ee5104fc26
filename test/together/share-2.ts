/** Share 2 of the quick test files. */
import { runShare } from './share.ts'

runShare(2)
