/** What is known about a server before it runs. */
import type { Logger } from '../../../actors/ports/ports.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { ensureCluster, superuser } from './cluster.ts'
import { durability, type Settings } from './command.ts'
import { type Home, openHome } from './home.ts'

export interface EmbeddedOptions {
  /** Holds the cluster, its port and log. Made when missing. */
  readonly dir: string
  /** Server settings by name. Those that make a commit durable are on unless given here. */
  readonly settings?: Settings
  /** A free one is chosen and remembered when left out. */
  readonly port?: number
  /** Created when missing. */
  readonly database?: string
  readonly log: Logger
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
  const { dir, log, settings = {}, database = 'chapar' } = options
  const home = await openHome(dir, log)
  const binaries = await findBinaries(home.account, log)
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
