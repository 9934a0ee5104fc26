/** Worker task: whether an MP4 has its index in front, so that it plays while it is still being loaded. */
import { type FileHandle, open } from 'node:fs/promises'

const BOXES = 64

export interface FastStartTask {
  readonly path: string
}

/** False also for a file that is no MP4. */
export async function fastStart({ path }: FastStartTask): Promise<boolean> {
  await using file = await open(path)
  const { size } = await file.stat()
  let at = 0
  for (let count = 0; count < BOXES && at < size; count++) {
    const box = await boxAt(file, at)
    if (!box || box.type === 'mdat') return false
    if (box.type === 'moov') return true
    at += box.bytes
  }
  return false
}

async function boxAt(file: FileHandle, at: number) {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, at)
  if (bytesRead < 8) return undefined
  const type = buffer.toString('latin1', 4, 8)
  const short = buffer.readUInt32BE(0)
  // 1 says that a long length follows, 0 that the box goes on to the end.
  const bytes = short === 1 && bytesRead === 16 ? Number(buffer.readBigUInt64BE(8)) : short
  return bytes < 8 ? undefined : { type, bytes }
}
