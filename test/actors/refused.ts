/** What a caller is refused with. */
import type { Test } from 'tap'
import type { Failure } from '../../machines/model/protocol.ts'

/** Fails unless the promise rejects with this failure, of which a part may be given. */
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
}
