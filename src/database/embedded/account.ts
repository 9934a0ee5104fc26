/** The operating system account that runs Postgres, which refuses to run as root, and folders that it can reach. */

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Holds Postgres' files when the checkout is closed to its account, as under /root. */
const base = '/var/lib/chapar'

export const sharedFolder = async (): Promise<string> => {
  await mkdir(base, { recursive: true, mode: 0o755 })
  return base
}

/** The random part keeps a new installation from finding the data of a deleted one. */
export const newFolder = async (name: string): Promise<string> =>
  await mkdtemp(join(await sharedFolder(), `${name}-`))

export interface Account {
  readonly uid: number
  readonly gid: number
}

/** The overflow ids that Linux itself gives to nobody. */
const nobody: Account = { uid: 65534, gid: 65534 }

async function accountNamed(name: string): Promise<Account | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n')
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/**
 * Undefined means: as ourselves. A cluster that exists keeps the account that created it, since
 * Postgres opens a data directory for its owner only.
 */
export async function chooseAccount(cluster: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(cluster).catch(() => undefined)
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  return (await accountNamed('postgres')) ?? (await accountNamed('nobody')) ?? nobody
}

/** Asks the kernel, so that every ancestor's mode, ACLs and mount options count. */
export async function canExecute(account: Account | undefined, path: string): Promise<boolean> {
  try {
    await promisify(execFile)('test', ['-x', path], { ...account, timeout: 5_000 })
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 1) return false
    throw error
  }
}
