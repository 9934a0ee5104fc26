/** The clock of the test network, which may differ from that of its clients. */
export const clock = {
  aheadSeconds: 0,
  /** Unix milliseconds. */
  now: (): number => Date.now() + clock.aheadSeconds * 1000,
}
