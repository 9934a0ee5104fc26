/** Temporary files: in one folder of this process, which is emptied at the start. */
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { failed } from '../../machines/model/failure.ts'

export interface TempFolder extends AsyncDisposable {
  /** The path of a new file in it. */
  file(): string
}

export class TemporaryFiles {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Files that an earlier process left behind are removed. */
  static async open(folder: string): Promise<TemporaryFiles> {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return new TemporaryFiles(folder)
  }

  /** The path of a new file. The caller removes it. */
  file(): string {
    return join(this.#folder, randomUUID())
  }

  /** A folder for the files of one task, deleted when it is disposed. */
  async folder(): Promise<TempFolder> {
    const folder = join(this.#folder, randomUUID())
    await mkdir(folder, { mode: 0o700 })
    return {
      file: () => join(folder, randomUUID()),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    }
  }
}

/** Rethrows it in the words of `explained`. */
export function explain(error: unknown): never {
  throw explained(error)
}

/** A full disk is a temporary failure. Errors from worker threads have no code, so the message is read. */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error) || !/^(ENOSPC|EDQUOT)\b/.test(error.message)) return error
  const retry = { retryAfterSeconds: 60 }
  return failed('unavailable', 'there is no room for files', retry, { cause: error })
}
