/** The folder of one embedded server: its cluster, port and log. */
import { chown, mkdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Logger } from '../../../actors/ports/ports.ts'
import { type Account, canExecute, chooseAccount, newFolder } from './account.ts'

export interface Home {
  readonly account: Account | undefined
  readonly cluster: string
  readonly portFile: string
  readonly logFile: string
}

/** Leaves a link at the expected place, so that the data is found there on the next start. */
async function placeElsewhere(dir: string, logger: Logger): Promise<void> {
  const folder = await newFolder('postgres')
  // A link whose target somebody deleted is of no use any more.
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
