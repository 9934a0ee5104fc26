/** Share 6 of the quick test files. */
import { runShare } from './share.ts'

runShare(6)
