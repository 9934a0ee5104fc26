/** Transcodes sound and film by ffmpeg: one confined program at a time for a user, within a budget for each file. */
import { stat } from 'node:fs/promises'
import type { Logger } from '../../actors/ports/ports.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import type { Confinement, Tools } from './confinement.ts'
import type { MediaMeasures } from './media.ts'
import { type Asker, type MediaPool, placesFor, withSemaphore } from './pool.ts'
import { inputOf, type Probe, probeArguments, readProbe } from './probe.ts'

interface Budget {
  /** Time limit of the encoder in milliseconds. */
  readonly timeMs: number
  /** Address space of the encoder. */
  readonly memoryBytes: number
}

const MEGABYTE = 1_000_000
const GIBIBYTE = 2 ** 30

/** About four seconds of work. */
const PIXELS = 1_000_000_000
/** A minute of full HD takes 3,700,000,000 pixels and usually more than 10 MB. */
const PIXELS_PER_MEGABYTE = 250_000_000

const TIME_MS = 20_000
const TIME_MS_PER_MEGABYTE = 2_000
const LONGEST_MS = 120_000

/** The budget for a file, by its size: a small file that would take hours of work is refused. */
export function budgetFor(bytes: number): Budget {
  const megabytes = bytes / MEGABYTE
  return {
    timeMs: Math.min(LONGEST_MS, Math.round(TIME_MS + TIME_MS_PER_MEGABYTE * megabytes)),
    memoryBytes: Math.min(2 * GIBIBYTE, GIBIBYTE + Math.ceil(20 * bytes)),
  }
}

interface Moving {
  readonly width: number
  readonly height: number
  readonly frames?: number
}

/** Whether the frames have more pixels than the budget of a file of this size. */
export function isTooCostly({ width, height, frames = 1 }: Moving, bytes: number): boolean {
  return width * height * frames > PIXELS + (PIXELS_PER_MEGABYTE * bytes) / MEGABYTE
}

interface TranscoderOptions {
  /** Absent: the machine has none, and everything stays as it is. */
  readonly tools: (Tools & { readonly confinement: Confinement }) | undefined
  readonly pool: Pick<MediaPool, 'drive'>
  readonly logger: Logger
  readonly measures: Pick<MediaMeasures, 'transcoded'>
  /** No result is larger. */
  readonly maxBytes: number
}

export interface Recording {
  readonly path: string
  readonly mime: string
}

const AT_ONCE = 2
const PROBE_MS = 15_000
const WAITING = 1_000
const WAITING_PER_USER = 32
/** Disk space in proportion to the result: some files are rewritten at the end. */
const SPARE = 2
const THREADS = 2
/** What ffmpeg takes to make a film of full HD. */
const FILM_BYTES = 300 * MEGABYTE

/** One user keeps one place busy at most, so that the next user finds the other one free. */
const semaphore = (places: number) =>
  new FairSemaphore({
    places,
    placesPerUser: Math.max(1, places - 1),
    waiting: WAITING,
    waitingPerUser: WAITING_PER_USER,
  })

export class Transcoder {
  readonly #options: TranscoderOptions
  /** A look takes milliseconds: it does not wait for those who encode. */
  readonly #probing: FairSemaphore
  readonly #encoding: FairSemaphore

  constructor(options: TranscoderOptions) {
    this.#options = options
    this.#probing = semaphore(AT_ONCE)
    this.#encoding = semaphore(placesFor(FILM_BYTES, AT_ONCE))
  }

  get isOpen(): boolean {
    return this.#options.tools !== undefined
  }

  /** Undefined if the file cannot be read, or ffprobe is missing. */
  async probe({ path, mime }: Recording, asker: Asker): Promise<Probe | undefined> {
    const { tools, pool } = this.#options
    const input = inputOf(path, mime)
    if (!tools || !input) return undefined
    const { program, args } = tools.confinement.command(tools.ffprobe, probeArguments(input), {
      reads: [path],
      cpuSeconds: PROBE_MS / 1_000,
      memoryBytes: 2 ** 30,
      fileBytes: 0,
    })
    const { succeeded, output } = await withSemaphore(this.#probing, asker, () =>
      pool.drive({ program, args, takes: PROBE_MS }, asker.signal),
    )
    return succeeded ? readProbe(output) : undefined
  }

  /** Resolves with whether `target` was made. */
  async make(
    recording: Recording,
    recipe: readonly string[],
    target: string,
    asker: Asker,
  ): Promise<boolean> {
    const { path, mime } = recording
    const { pool, logger, measures, maxBytes } = this.#options
    const allowed = budgetFor(await sizeOf(path))
    const command = this.#encoder(recording, recipe, target, allowed)
    if (!command) return false
    const { succeeded, complaint } = await withSemaphore(this.#encoding, asker, async () => {
      const began = performance.now()
      const { program, args } = command
      const ran = await pool.drive({ program, args, takes: allowed.timeMs }, asker.signal)
      measures.transcoded(ran.succeeded, (performance.now() - began) / 1_000)
      return ran
    })
    const made = await sizeOf(target)
    // A result of exactly the limit was cut off at it.
    if (succeeded && made > 0 && made < maxBytes) return true
    logger.info({ mime, complaint, timeMs: allowed.timeMs }, 'ffmpeg made nothing of a file')
    return false
  }

  #encoder(
    { path, mime }: Recording,
    recipe: readonly string[],
    target: string,
    { timeMs, memoryBytes }: Budget,
  ) {
    const { tools, maxBytes } = this.#options
    const input = inputOf(path, mime)
    if (!tools || !input) return undefined
    const args = [
      ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-y', '-threads', `${THREADS}`],
      ...input,
      ...['-map_metadata', '-1', '-map_chapters', '-1', '-threads', `${THREADS}`],
      ...['-fs', `${maxBytes}`],
      ...recipe,
      `file:${target}`,
    ]
    return tools.confinement.command(tools.ffmpeg, args, {
      reads: [path],
      writes: target,
      cpuSeconds: (timeMs / 1_000) * THREADS,
      memoryBytes,
      fileBytes: maxBytes * SPARE,
    })
  }
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )
