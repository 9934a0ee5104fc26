/** What a caller is refused with. */
import type { Test } from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'

/**
 * Fails unless the promise rejects with this failure, of which a part may be given. That it may have been done all the same
 * is no part to leave out.
 */
export async function refused(
  t: Test,
  promise: Promise<unknown>,
  failure: Partial<Failure>,
): Promise<void> {
  const cause = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  t.match({ cause }, { cause: { failure } })
  const isCertain = !(cause instanceof RequestFailed) || cause.failure.certain !== false
  t.equal(isCertain, failure.certain !== false, 'whether it was certainly not done')
}
