/** Makes sound and film fit by ffmpeg: one child process a piece of work, few at a time, each with a time limit. */
import { stat } from 'node:fs/promises'
import type { Log } from '../database/log.ts'
import { run } from './child.ts'
import type { MediaMeasures } from './measures.ts'
import { inputOf, type Probe, probeArguments, readProbe } from './probe.ts'
import type { Tools } from './tools.ts'
import { Turns } from './turns.ts'

export interface StudioOptions {
  /** Absent: the machine has none, and everything stays as it is. */
  readonly tools: Tools | undefined
  readonly log: Log
  readonly measures: Pick<MediaMeasures, 'transcoded'>
  readonly atOnce?: number
  readonly probeTakes?: number
  readonly encodeTakes?: number
  /** No result is larger. */
  readonly maxBytes: number
}

export interface Recording {
  readonly path: string
  readonly mime: string
}

export class Studio {
  readonly #options: StudioOptions
  readonly #turns: Turns

  constructor(options: StudioOptions) {
    this.#options = options
    this.#turns = new Turns({ atOnce: options.atOnce ?? 2, waiting: 100 })
  }

  get isOpen(): boolean {
    return this.#options.tools !== undefined
  }

  /** Undefined when it cannot be read, or nobody is there to read it. */
  async probe({ path, mime }: Recording, signal: AbortSignal): Promise<Probe | undefined> {
    const { tools, probeTakes = 15_000 } = this.#options
    const input = inputOf(path, mime)
    if (!tools || !input) return undefined
    const { succeeded, output } = await this.#turns.take(
      () => run(tools.ffprobe, probeArguments(input), { takes: probeTakes, signal }),
      signal,
    )
    return succeeded ? readProbe(output) : undefined
  }

  /** Resolves with whether `target` was made. */
  async make(
    { path, mime }: Recording,
    recipe: readonly string[],
    target: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { tools, log, measures, encodeTakes = 120_000, maxBytes } = this.#options
    const input = inputOf(path, mime)
    if (!tools || !input) return false
    const args = [
      ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-threads', '2'],
      ...['-max_alloc', '536870912', '-max_pixels', '40000000'],
      ...input,
      ...['-map_metadata', '-1', '-map_chapters', '-1', '-threads', '2', '-fs', `${maxBytes}`],
      ...recipe,
      `file:${target}`,
    ]
    const { succeeded, complaint } = await this.#turns.take(async () => {
      const began = performance.now()
      const ran = await run(tools.ffmpeg, args, { takes: encodeTakes, signal })
      measures.transcoded(ran.succeeded, (performance.now() - began) / 1_000)
      return ran
    }, signal)
    // A result of exactly the limit was cut off at it.
    if (succeeded && (await sizeOf(target)) < maxBytes) return true
    log.info({ mime, complaint }, 'ffmpeg made nothing of a file')
    return false
  }
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => (size === 0 ? Number.POSITIVE_INFINITY : size),
    () => Number.POSITIVE_INFINITY,
  )
