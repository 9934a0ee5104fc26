/** The folder of one embedded server with its cluster, port and log, and the system account that runs the server. */

import { execFile } from 'node:child_process'
import {
  chown,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from '../../../actors/ports/ports.ts'

export interface Home {
  readonly account: Account | undefined
  readonly cluster: string
  readonly portFile: string
  readonly logFile: string
}

/** Leaves a link at the expected place, so that the data is found there on the next start. */
async function placeElsewhere(dir: string, logger: Logger): Promise<void> {
  const folder = await newFolder('postgres')
  // A link whose target was deleted is removed.
  await rm(dir, { force: true })
  await symlink(folder, dir)
  logger.warn(
    { dir, folder },
    'the data directory is closed to the PostgreSQL account; data is placed',
  )
}

export async function openHome(path: string, logger: Logger): Promise<Home> {
  const dir = resolve(path)
  const account = await chooseAccount(join(dir, 'cluster'))
  const parent = dirname(dir)
  await mkdir(parent, { recursive: true })
  const isNew = await stat(dir).then(
    () => false,
    () => true,
  )
  if (isNew && account !== undefined && !(await canExecute(account, parent))) {
    await placeElsewhere(dir, logger)
  }
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const root = await realpath(dir)
  if (account !== undefined) await chown(root, account.uid, account.gid)
  return {
    account,
    cluster: join(root, 'cluster'),
    portFile: join(root, 'port'),
    logFile: join(root, 'postgres.log'),
  }
}

export async function writePrivately(home: Home, file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
  if (home.account !== undefined) await chown(file, home.account.uid, home.account.gid)
}

export async function rememberedPort(home: Home): Promise<number | undefined> {
  const text = await readFile(home.portFile, 'utf8').catch(() => '')
  const port = Number(text)
  return Number.isInteger(port) && port > 0 ? port : undefined
}

/** Holds Postgres' files if its account cannot read the project's folder, for example under /root. */
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

/** The overflow ids of Linux: no account has them. */
const nobody: Account = { uid: 65534, gid: 65534 }

async function accountNamed(name: string): Promise<Account | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n')
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/**
 * Undefined: the account of this process. A cluster that exists keeps the account that created it, since
 * Postgres opens a data directory for its owner only.
 */
async function chooseAccount(cluster: string): Promise<Account | undefined> {
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
