/** The whole service in this process, on a database of its own, and a client that speaks to it over real HTTP. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Platform } from '../../actors/ports/platform.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Gateway, startGateway } from '../../src/gateway.ts'
import { createLogger, type Logger } from '../../src/observability/logger.ts'
import { Client, until } from './client.ts'
import { testDatabase } from './database.ts'
import { balance } from './two-nodes.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

export interface Service {
  readonly gateway: Gateway
  readonly url: string
  readonly databaseUrl: string
  /** Where it keeps its files. */
  readonly dataDir: string
  /** Signed in with a phone of its own. */
  client(phone?: string): Promise<Client>
  /** The newest one-time code that was sent to a phone, once there is one; taken only once. */
  code(phone: string): Promise<string>
  /** Stops the service and starts it again on the same database; `url` stays the same. */
  restart(): Promise<void>
}

/** Probes come often, but a machine that stands still for a moment fails none; no rates to wait for. */
const defaults = {
  HOST: '127.0.0.1',
  BASE_URL: 'http://chapar.test',
  LOG_LEVEL: 'fatal',
  DRAIN_SECONDS: '0',
  PROBE_INTERVAL_MS: '500',
  PROBE_RETRY_MS: '300',
  PROBE_TIMEOUT_MS: '2000',
  PLATFORM_TIMEOUT_MS: '3000',
  CALL_RATE: '1000000',
  CALL_BURST: '1000000',
  // What is not online is told of at once; a test of the waiting sets its own.
  HOLD_MS: '0',
  SEND_RATE: '1000000',
  SEND_BURST: '1000000',
  CHAT_RATE: '1000000',
  CHAT_BURST: '1000000',
  USER_CALLS_PER_MINUTE: '1000000',
  LINK_STARTS_PER_TARGET: '1000000',
  LINK_STARTS_PER_USER: '1000000',
  LINK_STARTS_IN_ALL: '1000000',
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly platforms?: readonly Platform[]
  readonly logger?: Logger
  /** On this server instead of the one that all tests share. */
  readonly databaseUrl?: string
}

let phones = 0

/** Every test of the service can run on two nodes behind a balancer: what only one node would notice then fails. */
const inTwo = process.env.TEST_NODES === '2'

export async function startService(t: Testing, options: ServiceOptions = {}): Promise<Service> {
  const databaseUrl = options.databaseUrl ?? (await testDatabase(t)).url
  const dataDir = await mkdtemp(join(tmpdir(), 'chapar-test-'))
  const codes = new Map<string, string>()
  const print = (line: string) => {
    const [, phone, code] = /for (\+\d+): (\d+)/.exec(line) ?? []
    if (phone && code) codes.set(phone, code)
  }
  const open = (port: number, name = 'first') => {
    // An account that goes from one to the other is waited for.
    const among = inTwo && {
      NODE_NAME: name,
      CLUSTER_ADDRESS: 'https://127.0.0.1:0',
      HOLD_MS: '3000',
    }
    const env = { ...defaults, ...among, DATA_DIR: dataDir, PORT: `${port}`, ...options.env }
    const config = readConfig(env)
    const platforms = options.platforms ?? []
    const logger = options.logger ?? createLogger({ level: config.logLevel })
    return startGateway({ config, databaseUrl, logger, print, platforms })
  }
  let gateway = await open(0)
  const { port } = new URL(gateway.address)
  const second = inTwo ? await open(0, 'second') : undefined
  t.teardown(async () => {
    await Promise.all([gateway.stop(), second?.stop()])
    await rm(dataDir, { recursive: true, force: true })
  })
  const own = `http://127.0.0.1:${port}`
  const url = second ? await balance(t, () => [own, second.address]) : own
  return {
    get gateway() {
      return gateway
    },
    url,
    databaseUrl,
    dataDir,
    client: (phone = `+1415555${String(1000 + phones++).padStart(4, '0')}`) =>
      Client.signIn(url, phone, codes),
    async code(phone) {
      const code = await until(() => codes.get(phone))
      codes.delete(phone)
      return code
    },
    async restart() {
      await gateway.stop()
      gateway = await open(Number(port))
    },
  }
}
