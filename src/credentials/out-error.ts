/** The last error that is shown for an account that is out, in the words of getUpdates. */
import type { Failure } from '../../machines/model/protocol.ts'

/** Why nothing comes for an account any more, and since when (milliseconds). */
export interface Out {
  readonly failure: Failure
  readonly since: number
}

export const outError = ({ failure, since }: Out) => ({
  at: Math.floor(since / 1000),
  message: `Forbidden: ${failure.description}`,
})
