/** The files that came along with a call, in temporary places until it is answered. */
import type { Readable } from 'node:stream'
import { TooLarge } from '../../media/intake.ts'
import type { Upload } from '../../media/media.ts'

export interface UploadPlace {
  readonly media: {
    spool(
      stream: Readable,
      about: { readonly limit: number; readonly name?: string; readonly mime?: string },
      signal: AbortSignal,
    ): Promise<Upload>
  }
  /** Of one file. */
  readonly uploadBytes: number
}

export type Uploads = ReadonlyMap<string, Upload>

/** What calls without files have, which are most. */
export const noUploads: Uploads = new Map()

/** Of all files of a call: an album has ten. */
const ALBUM = 10

/** Takes the file parts of one call. */
export class Receiving {
  readonly uploads = new Map<string, Upload>()
  readonly #place: UploadPlace
  readonly #signal: AbortSignal
  #left: number

  constructor(place: UploadPlace, signal: AbortSignal) {
    this.#place = place
    this.#signal = signal
    this.#left = ALBUM * place.uploadBytes
  }

  /** The first part of a name counts, as with other parameters. */
  async take(part: string, file: Readable, about: { name?: string; mime?: string }): Promise<void> {
    if (this.uploads.has(part)) return void file.resume()
    if (this.#left <= 0) throw new TooLarge()
    const limit = Math.min(this.#left, this.#place.uploadBytes)
    const upload = await this.#place.media.spool(file, { limit, ...about }, this.#signal)
    this.#left -= upload.size
    this.uploads.set(part, upload)
  }
}

export async function releaseAll(uploads: Uploads): Promise<void> {
  await Promise.all([...uploads.values()].map((upload) => upload.release()))
}
