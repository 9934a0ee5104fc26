/** The setup of a server before it runs: its folder, programs and settings, and its command line. */

import type { Logger } from '../../../actors/ports/ports.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { ensureCluster, superuser } from './cluster.ts'
import { type Home, openHome } from './home.ts'

type Settings = Readonly<Record<string, string>>

/** An acknowledged update must survive a power cut; only tests may pass others. */
const durability: Settings = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
}

const defaults: Settings = {
  ...durability,
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  // Our statements are short: compiling one costs more than running it.
  jit: 'off',
  random_page_cost: '1.1',
}

/** The command line of the server, with the settings that make a commit durable. */
export function serverArguments(home: Home, port: number, settings: Settings): string[] {
  const all = Object.entries({ ...defaults, ...settings })
  const options = all.flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', home.cluster, '-p', String(port), ...options]
}

/** The format of postmaster.opts, in which the server records its command line. */
export const recordedCommand = (program: string, args: readonly string[]): string =>
  `${program}${args.map((arg) => ` "${arg}"`).join('')}\n`

export interface EmbeddedOptions {
  /** Holds the cluster, its port and log. Made when missing. */
  readonly dir: string
  /** Server settings by name. Those that make a commit durable are on unless given here. */
  readonly settings?: Settings
  /** A free one is chosen and remembered when left out. */
  readonly port?: number
  /** Created when missing. */
  readonly database?: string
  readonly logger: Logger
}

export interface Setup {
  readonly options: EmbeddedOptions
  readonly home: Home
  readonly binaries: Binaries
  readonly settings: Settings
  readonly database: string
  url(port: number, database: string): string
}

export async function prepare(options: EmbeddedOptions): Promise<Setup> {
  const { dir, logger, settings = {}, database = 'chapar' } = options
  const home = await openHome(dir, logger)
  const binaries = await findBinaries(home.account, logger)
  const password = await ensureCluster(home, binaries, settings.fsync !== 'off')
  return {
    options,
    home,
    binaries,
    settings: { ...durability, ...settings },
    database,
    url: (port, name) => `postgres://${superuser}:${password}@127.0.0.1:${port}/${name}`,
  }
}
