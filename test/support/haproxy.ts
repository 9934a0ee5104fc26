/** Debian's HAProxy with the configuration of deploy/haproxy.cfg, of which only the addresses are replaced. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from './client.ts'
import { freePort } from './ports.ts'

const source = join(import.meta.dirname, '../../deploy/haproxy.cfg')

export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0

export const haproxyConfiguration = () => readFile(source, 'utf8')

/** Resolves with its address once a node behind it is ready. `ports` are those of its nodes, in their order. */
export async function startHaproxy(
  t: Pick<Test, 'teardown'>,
  ports: readonly number[],
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'chapar-haproxy-'))
  const port = await freePort()
  const file = join(dir, 'haproxy.cfg')
  await writeFile(file, placed(await haproxyConfiguration(), port, ports))
  // -db: in the foreground.
  const started = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  started.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  t.teardown(async () => {
    const ended = once(started, 'exit')
    if (started.exitCode === null && started.kill('SIGTERM')) await ended
    await rm(dir, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => {
    if (started.exitCode !== null) throw new Error(`haproxy ended: ${said}`)
    return fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  })
  return url
}

function placed(text: string, port: number, ports: readonly number[]): string {
  const bound = replaced(text, 'bind :8080', `bind 127.0.0.1:${port}`)
  return ports.reduce(
    (placed, at, index) => replaced(placed, `chapar-${index + 1}:8080`, `127.0.0.1:${at}`),
    bound,
  )
}

/** Throws where the configuration has no such text any more, so that no test runs with another one. */
function replaced(text: string, old: string, next: string): string {
  if (!text.includes(`${old}\n`)) throw new Error(`deploy/haproxy.cfg has no ${old}`)
  return text.replaceAll(`${old}\n`, `${next}\n`)
}
