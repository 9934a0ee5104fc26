/** The folder of all data of the service: created if missing, and tested before anything depends on it. */
import { mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** More bytes than a file system stores without using a block. */
const TRIAL_BYTES = 16 * 1024

/** Rejects with the reason why it cannot be written to. */
export async function prepareFolder(path: string): Promise<void> {
  const folder = resolve(path)
  await makeFolder(folder)
  const trial = join(folder, `.trial-${process.pid}`)
  try {
    await using file = await open(trial, 'w')
    await file.writeFile(Buffer.alloc(TRIAL_BYTES))
    await file.sync()
  } finally {
    await rm(trial, { force: true })
  }
}

/** With `recursive`, Node.js says of a read-only parent that something is missing, and in some places never ends. */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) await makeFolder(parent)
  await mkdir(folder).catch(async (error) => {
    // Another process has created it meanwhile.
    if (!(await isFolder(folder))) throw error
  })
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
