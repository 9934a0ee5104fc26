/** What operators measure of media. */
export interface MediaMeasures {
  /** `kind` is what was asked for; `changed`: it was sent as another kind, or as other bytes. */
  ingested(kind: string, outcome: 'kept' | 'changed' | 'refused' | 'failed', bytes: number): void
  /** Asked for by whoever opened a file. */
  read(bytes: number): void
  transcoded(succeeded: boolean, seconds: number): void
  /** Pieces of work that wait for a thread. */
  waiting(count: () => number): void
}

const nobody = () => undefined

export const unmeasured: MediaMeasures = {
  ingested: nobody,
  read: nobody,
  transcoded: nobody,
  waiting: nobody,
}
