/** Where Postgres' files go when the checkout is closed to its account, as under /root. */
import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'

const base = '/var/lib/chapar'

export const sharedFolder = async (): Promise<string> => {
  await mkdir(base, { recursive: true, mode: 0o755 })
  return base
}

/** The random part keeps a new installation from finding the data of a deleted one. */
export const newFolder = async (name: string): Promise<string> =>
  await mkdtemp(join(await sharedFolder(), `${name}-`))
