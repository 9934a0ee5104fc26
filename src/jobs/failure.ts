/** A job that failed and would fail again: it is not tried another time. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}
