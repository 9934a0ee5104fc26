/** Temporary files in a folder of this process. Folders of crashed processes are removed. */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import { boundedWarnings } from '../observability/bounded.ts'

export interface TempFolder extends AsyncDisposable {
  /** The path of a new file in it. */
  file(): string
}

/** A process touches its folder this often, and looks at those beside it. */
const LOOK_MS = 60_000
/** A folder that is unchanged for this many looks has no owner. Clocks may differ, so only changes count. */
const LOOKS = 5

interface Seen {
  readonly touched: number
  /** How many looks have found it unchanged. */
  readonly looks: number
}

export class TemporaryFiles {
  readonly #place: string
  readonly #folder: string
  readonly #looking: NodeJS.Timeout
  /** Resolves once no look is under way: one would make the folder of a closed place again. */
  #looked: Promise<void> = Promise.resolve()
  /** The folders of other processes. */
  #beside: ReadonlyMap<string, Seen> = new Map()
  readonly #warn: Logger['warn']

  private constructor(place: string, logger: Pick<Logger, 'warn'>, lookMs: number) {
    this.#place = place
    this.#folder = join(place, randomUUID())
    this.#warn = boundedWarnings(logger)
    this.#looking = setInterval(() => {
      this.#looked = this.#looked
        .then(() => this.#look())
        .catch((err) => this.#warn({ err, place }, 'temporary files were not looked through'))
    }, lookMs).unref()
  }

  /** Processes that replace each other may have the same place. */
  static async open(
    place: string,
    logger: Pick<Logger, 'warn'>,
    lookMs = LOOK_MS,
  ): Promise<TemporaryFiles> {
    const temporary = new TemporaryFiles(place, logger, lookMs)
    await temporary.#make()
    return temporary
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    await this.#looked
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #make(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
  }

  async #look(): Promise<void> {
    const now = new Date()
    // Another process may have removed the folder while this process was frozen.
    await utimes(this.#folder, now, now).catch(() => this.#make())
    const beside = new Map<string, Seen>()
    for (const name of await readdir(this.#place)) {
      const path = join(this.#place, name)
      if (path === this.#folder) continue
      const touched = await touchedAt(path)
      if (touched === undefined) continue
      const before = this.#beside.get(name)
      const looks = before?.touched === touched ? before.looks + 1 : 0
      const isGone = looks >= LOOKS && (await this.#remove(path))
      if (!isGone) beside.set(name, { touched, looks })
    }
    this.#beside = beside
  }

  /** One that cannot be removed, as that of another user of the system, keeps no other one. */
  async #remove(path: string): Promise<boolean> {
    try {
      await rm(path, { recursive: true, force: true })
      return true
    } catch (err) {
      this.#warn({ err, path }, 'temporary files that nobody uses were not removed')
      return false
    }
  }

  /** The path of a new file. The caller removes it. */
  file(): string {
    return join(this.#folder, randomUUID())
  }

  /** A folder for the files of one task, deleted when it is disposed. */
  async folder(): Promise<TempFolder> {
    const folder = join(this.#folder, randomUUID())
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch(explain)
    return {
      file: () => join(folder, randomUUID()),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    }
  }
}

/** Undefined for what was removed meanwhile. */
async function touchedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs
  } catch {
    return undefined
  }
}

/** Rethrows it in the words of `storageFailure`. */
export function explain(error: unknown): never {
  throw storageFailure(error)
}

/**
 * A disk that is full, or fails for other files too, is a temporary failure, as is a folder that was removed. Errors from
 * worker threads have no code, so the message is read.
 */
export function storageFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const later = (description: string, retryAfterSeconds: number) =>
    failed('unavailable', description, { retryAfterSeconds }, { cause: error })
  if (/^(ENOSPC|EDQUOT)\b/.test(error.message)) return later('there is no room for files', 60)
  if (/^(EMFILE|ENFILE|EIO|EROFS|ESTALE|EBUSY|ENOMEM|ENOENT|EACCES|EPERM)\b/.test(error.message))
    return later('files cannot be read or kept now', 5)
  return error
}
