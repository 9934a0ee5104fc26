/** Makes a plain file of one that was encrypted when it came in, for those who have to look into it after all. */
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { SealedUpload, Upload } from './media.ts'
import { openSealed } from './opening.ts'

export async function unsealFile(
  { path, size, sealed: { key } }: Upload & { readonly sealed: SealedUpload },
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const read = async (path: string, { from, length }: { from: number; length: number }) =>
    createReadStream(path, { start: from, end: from + length - 1 })
  const whole = { offset: 0, length: size }
  const plain = await openSealed({ read }, { object: path, key, size }, whole)
  await pipeline(plain, createWriteStream(target, { flags: 'wx', mode: 0o600 }), { signal })
}
