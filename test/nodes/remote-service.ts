/** The service in a process of its own, to be killed or stopped: a node beside the one that a test runs in. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, until } from '../support/client.ts'
import { freePort } from '../support/ports.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

interface RemoteOptions {
  readonly databaseUrl: string
  readonly name: string
  readonly env?: Readonly<Record<string, string>>
  /** Absent: one that is free. */
  readonly port?: number
  /** The program to run, beside this file. */
  readonly entry?: string
  /** Where it listens; absent: at this machine only. */
  readonly host?: string
  /** Of which tree the service is started; absent: this one. */
  readonly tree?: string
  /** What runs the process, such as `ip netns exec name`. */
  readonly within?: readonly string[]
}

const ownTree = join(import.meta.dirname, '../..')

export interface RemoteService {
  readonly url: string
  readonly pid: number
  readonly dataDir: string
  client(phone: string): Promise<Client>
  /** The newest one-time code for each phone that this process has sent: any node may send it. */
  readonly codes: Map<string, string>
  /** Resolves once the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  signal(signal: NodeJS.Signals): void
}

/** A start on a busy machine takes seconds; one that hangs is to be told, not waited for. */
const STARTS_WITHIN_MS = 120_000

const isOver = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** Resolves once the service listens. */
export async function startRemote(t: Testing, options: RemoteOptions): Promise<RemoteService> {
  const { databaseUrl, name, env = {}, port = await freePort() } = options
  const { entry = 'main-process.ts', host = '127.0.0.1', tree = ownTree, within = [] } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'chapar-node-'))
  const main = [process.execPath, join(tree, 'test/nodes', entry)]
  const [command = '', ...words] = [...within, ...main]
  const child = spawn(command, words, {
    env: {
      PATH: process.env.PATH,
      HOST: host,
      BASE_URL: 'http://chapar.test',
      LOG_LEVEL: 'fatal',
      NODE_NAME: name,
      CLUSTER_ADDRESS: `https://${host}:0`,
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      PORT: `${port}`,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const codes = new Map<string, string>()
  const listening = Promise.withResolvers<void>()
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('Chapar is running')) listening.resolve()
    const [, phone, code] = /for (\+\d+): (\d+)/.exec(line) ?? []
    if (phone && code) codes.set(phone, code)
  })
  child.once('exit', (code) => listening.reject(new Error(`the node ended with ${code}`)))
  const end = async (signal: NodeJS.Signals) => {
    if (isOver(child)) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  t.teardown(async () => {
    await end('SIGKILL')
    await rm(dataDir, { recursive: true, force: true })
  })
  const late = setTimeout(
    () => listening.reject(new Error(`${name} has not started within ${STARTS_WITHIN_MS} ms`)),
    STARTS_WITHIN_MS,
  )
  await listening.promise.finally(() => clearTimeout(late))
  const url = `http://${host}:${port}`
  await until(async () => (await fetch(`${url}/health/ready`)).ok)
  return {
    url,
    pid: child.pid ?? 0,
    dataDir,
    client: (phone) => Client.signIn(url, phone, codes),
    codes,
    end,
    signal: (signal) => void child.kill(signal),
  }
}
