/** The server's own log: kept small, and read back when a start fails. */
import { type FileHandle, open, rename, stat } from 'node:fs/promises'

const rotateAboveBytes = 10 * 1024 * 1024
const quotedBytes = 4_000

export interface ServerLog {
  readonly handle: FileHandle
  /** What was written since it was opened, its end at most. */
  written(): Promise<string>
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

export async function openLog(path: string): Promise<ServerLog> {
  if ((await sizeOf(path)) > rotateAboveBytes) await rename(path, `${path}.1`)
  const handle = await open(path, 'a+', 0o600)
  const start = (await handle.stat()).size
  return {
    handle,
    async written() {
      const from = Math.max(start, (await sizeOf(path)) - quotedBytes)
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(quotedBytes), { position: from })
      return buffer.toString('utf8', 0, bytesRead).trim()
    },
  }
}
