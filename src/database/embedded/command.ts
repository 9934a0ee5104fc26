/** The command line of the server, with the settings that make a commit durable. */
import type { Home } from './home.ts'

export type Settings = Readonly<Record<string, string>>

/** An acknowledged update must survive a power cut; only tests may pass others. */
export const durability: Settings = {
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

export function serverArguments(home: Home, port: number, settings: Settings): string[] {
  const all = Object.entries({ ...defaults, ...settings })
  const options = all.flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', home.cluster, '-p', String(port), ...options]
}

/** The form in which the server records how it was started, in postmaster.opts. */
export const recordedCommand = (program: string, args: readonly string[]): string =>
  `${program}${args.map((arg) => ` "${arg}"`).join('')}\n`
