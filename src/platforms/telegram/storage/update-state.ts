/** The library's counters of received updates; the committed ones are the checkpoint. */
import type { Json } from '../../../../machines/model/protocol.ts'
import { fieldsOf } from '../../kit/platform.ts'

const PREFIX = 'updates_'
const CHANNEL = 'channel:'
const COUNTERS = ['pts', 'qts', 'date', 'seq'] as const

/** The box of private chats and small groups, whose messages are numbered together; channels are boxes of their own. */
export const COMMON = 0

export class UpdateState {
  readonly #values = new Map<string, number>()
  /** The newest reported message of each box. */
  readonly #newest = new Map<number, number>()
  /** Channels with updates that could not be fetched yet. */
  readonly #owed = new Set<number>()
  #isChanged = false

  constructor(checkpoint: Json) {
    const { channels, newest, owed, ...counters } = fieldsOf(checkpoint)
    for (const name of COUNTERS) {
      if (Number.isInteger(counters[name])) this.#values.set(name, Number(counters[name]))
    }
    for (const [id, value] of Object.entries(fieldsOf(channels))) {
      if (Number.isInteger(value)) this.#values.set(`${CHANNEL}${id}`, Number(value))
    }
    for (const channel of Array.isArray(owed) ? owed : []) this.#owed.add(Number(channel))
    for (const [box, message] of Object.entries(fieldsOf(newest))) {
      if (Number.isInteger(message)) this.#newest.set(Number(box), Number(message))
    }
  }

  static isAbout(key: string): boolean {
    return key.startsWith(PREFIX)
  }

  /** Sets the first counters of an account without a checkpoint. */
  begin(
    counters: Readonly<Record<(typeof COUNTERS)[number], number>>,
    channels: ReadonlyMap<number, { readonly pts: number; readonly message: number }>,
  ): void {
    for (const name of COUNTERS) this.#values.set(name, counters[name])
    for (const [id, { pts, message }] of channels) {
      this.#values.set(`${CHANNEL}${id}`, pts)
      this.reported(id, message)
    }
  }

  /** Whether there are counters to continue from. */
  get isKnown(): boolean {
    return COUNTERS.every((name) => this.#values.has(name))
  }

  /** Unix time in seconds. */
  get date(): number {
    return this.#values.get('date') ?? 0
  }

  channelCount(channelId: number): number | undefined {
    return this.#values.get(`${CHANNEL}${channelId}`)
  }

  *channelCounts(): Generator<[channelId: number, pts: number]> {
    for (const [name, value] of this.#values) {
      if (name.startsWith(CHANNEL)) yield [Number(name.slice(CHANNEL.length)), value]
    }
  }

  get owed(): readonly number[] {
    return [...this.#owed]
  }

  /** Part of the next checkpoint: the updates of the channel have to be fetched again. */
  owe(channelId: number): void {
    this.#owed.add(channelId)
    this.#isChanged = true
  }

  settle(channelId: number): void {
    this.#owed.delete(channelId)
  }

  newest(box: number): number | undefined {
    return this.#newest.get(box)
  }

  /** Part of the next checkpoint: all messages of the box up to this one are reported by then. */
  reported(box: number, message: number): void {
    this.#newest.set(box, Math.max(message, this.#newest.get(box) ?? 0))
  }

  get(key: string): Uint8Array | null {
    const value = this.#values.get(key.slice(PREFIX.length))
    if (value === undefined) return null
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(value)
    return bytes
  }

  set(key: string, bytes: Uint8Array): void {
    const name = key.slice(PREFIX.length)
    const value = Buffer.from(bytes).readInt32LE()
    if (name.startsWith(CHANNEL)) this.settle(Number(name.slice(CHANNEL.length)))
    if (this.#values.get(name) === value) return
    this.#values.set(name, value)
    // A change of the time alone does not count.
    if (name !== 'date') this.#isChanged = true
  }

  /** Whether a counter has moved since the last call. */
  takeChange(): boolean {
    const isChanged = this.#isChanged
    this.#isChanged = false
    return isChanged
  }

  checkpoint(): Json {
    const counters = [...this.#values].filter(([name]) => !name.startsWith(CHANNEL))
    return {
      ...Object.fromEntries(counters),
      channels: Object.fromEntries(this.channelCounts()),
      newest: Object.fromEntries(this.#newest),
      ...(this.#owed.size > 0 && { owed: this.owed }),
    }
  }
}

/** The library's counters of channels: how far the updates of each one were received. */
export class ChannelCounts extends Map<number, number> {
  readonly #gaveUp: (channel: number) => void

  /** `gaveUp` gets each channel whose missed updates the library would skip. */
  constructor(gaveUp: (channel: number) => void = () => undefined) {
    super()
    this.#gaveUp = gaveUp
  }

  /** When a gap is too large for the library, it forgets the channel by setting its count to zero. */
  override set(channel: number, pts: number): this {
    if (pts > 0) return super.set(channel, pts)
    this.#gaveUp(channel)
    return this
  }
}
