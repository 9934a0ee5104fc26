/** Share 1 of the quick test files. */
import { runShare } from './share.ts'

runShare(1)
