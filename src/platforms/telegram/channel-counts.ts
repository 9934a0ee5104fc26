/** How far the events of each channel were seen, as the library keeps it. */
export class ChannelCounts extends Map<number, number> {
  readonly #gaveUp: (channel: number) => void

  /** `gaveUp` is told of channels that the library would begin anew with. */
  constructor(gaveUp: (channel: number) => void = () => undefined) {
    super()
    this.#gaveUp = gaveUp
  }

  /** A gap that is too large for it the library forgets, together with what it got before: by counting from zero. */
  override set(channel: number, pts: number): this {
    if (pts > 0) return super.set(channel, pts)
    this.#gaveUp(channel)
    return this
  }
}
