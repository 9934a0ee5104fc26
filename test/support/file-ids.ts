/** File ids under a secret of the tests. */
import { FileIds } from '../../src/bot-api/file-id.ts'

export const testFileIds = new FileIds(Buffer.alloc(32, 7))
