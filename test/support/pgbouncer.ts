/** A real PgBouncer in front of the database of a test. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { accepting, freePort } from './ports.ts'

export const pgbouncerMissing =
  spawnSync('pgbouncer', ['--version']).status === 0 ? undefined : 'pgbouncer is not installed'

interface PoolerOptions {
  readonly mode: 'session' | 'transaction'
  /** What connections ask for is dropped without a word, instead of being refused. */
  readonly dropsSettings: boolean
}

/** Resolves with the address of the same database behind it. */
export async function pooled(
  t: Pick<Test, 'teardown'>,
  url: string,
  options: PoolerOptions,
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'chapar-pgbouncer-'))
  await chmod(dir, 0o755)
  const port = await freePort()
  await writeFile(join(dir, 'pgbouncer.ini'), configuration(new URL(url), port, options))
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const started = spawn('pgbouncer', [...user, join(dir, 'pgbouncer.ini')], { stdio: 'ignore' })
  t.teardown(async () => {
    const ended = once(started, 'exit')
    if (started.exitCode === null && started.kill('SIGKILL')) await ended
    await rm(dir, { recursive: true, force: true })
  })
  await accepting(port)
  return Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href
}

function configuration(server: URL, port: number, { mode, dropsSettings }: PoolerOptions): string {
  const { hostname, port: at, username, password, pathname } = server
  const name = pathname.slice(1)
  const login = `user=${username} password=${decodeURIComponent(password)}`
  return `
[databases]
${name} = host=${hostname} port=${at} dbname=${name} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
${dropsSettings ? 'ignore_startup_parameters = options,statement_timeout' : ''}
`
}
