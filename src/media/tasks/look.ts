/** Worker task: the type of a file by its bytes, and the size of a picture. */
import { open } from 'node:fs/promises'
import sharp from 'sharp'
import { isPicture } from '../formats.ts'
import { pictureOptions } from './picture.ts'
import { HEAD_BYTES, sniff } from './sniff.ts'

export interface LookTask {
  readonly path: string
}

export interface Look {
  readonly size: number
  /** Undefined when the bytes do not tell, as with plain text. */
  readonly mime?: string
  /** As it is shown, not as it is stored. Absent when it is no picture that can be read. */
  readonly picture?: PictureFacts
}

interface PictureFacts {
  readonly width: number
  readonly height: number
  readonly frames: number
  /** It carries notes of a camera or a program: place, device, time, comments. */
  readonly hasNotes: boolean
}

const header = { ...pictureOptions, limitInputPixels: false }

export async function look({ path }: LookTask): Promise<Look> {
  await using file = await open(path)
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
  const mime = await sniff({ head: buffer.subarray(0, bytesRead) })
  if (mime === undefined) return { size }
  const picture = isPicture(mime) ? await measure(path) : undefined
  return { size, mime, ...(picture && { picture }) }
}

/** Reads the header alone, so that the size of a bomb is known too. */
async function measure(path: string): Promise<PictureFacts | undefined> {
  try {
    const { width, height, pages = 1, autoOrient, ...facts } = await sharp(path, header).metadata()
    const { exif, xmp, iptc, tifftagPhotoshop, comments } = facts
    const hasNotes = [exif, xmp, iptc, tifftagPhotoshop, comments?.length].some(Boolean)
    return {
      width: autoOrient.width ?? width,
      height: autoOrient.height ?? height,
      frames: pages,
      hasNotes,
    }
  } catch {
    // It is no readable picture: code that needs one refuses it.
    return undefined
  }
}
