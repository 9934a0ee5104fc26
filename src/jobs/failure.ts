/** The failure of a job that is not tried again, because it would fail again. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure'
}
