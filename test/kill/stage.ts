/** Everything that takes part in the kill test. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openVault } from '../../src/security/vault.ts'
import { quietLogger } from '../support/logger.ts'
import { linkedAccount } from './account.ts'
import { Consumer, type KillConsumer } from './consumer.ts'
import { HookConsumer } from './hook-consumer.ts'
import { PostgresProcess } from './postgres-process.ts'
import { ServiceProcess } from './service-process.ts'
import { Spool } from './spool.ts'

const ACCOUNTS = ['ada', 'bob', 'cyd']
const CHATS = ['north', 'east', 'south', 'west']

export interface StageOptions {
  readonly perSecond: number
  readonly acknowledgesEarly: boolean
  /** So many connections at once to each of the bots, instead of bots that poll. */
  readonly webhookConnections?: number
  /** Of the service, beside what it is always given. */
  readonly environment?: NodeJS.ProcessEnv
  /** Where the folder of everything is made, instead of among the temporary ones. */
  readonly parent?: string
  /** Resolves with a port by which the service gets to this one. */
  readonly way?: (name: 'database' | 'network', port: number) => Promise<number>
}

export interface Stage {
  readonly postgres: PostgresProcess
  readonly spool: Spool
  readonly service: ServiceProcess
  /** Where the service listens. */
  readonly port: number
  /** By account, in the order of the spool's. */
  readonly consumers: readonly KillConsumer[]
  close(): Promise<void>
}

export async function setStage(options: StageOptions): Promise<Stage> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(options.parent ?? tmpdir(), 'chapar-kill-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  // Postgres may run as another account.
  await chmod(folder, 0o755)
  const postgres = await PostgresProcess.start({
    dir: join(folder, 'postgres'),
    logger: quietLogger,
  })
  opened.defer(() => postgres.stop())
  const keyFile = join(folder, 'keys')
  const keys = await linkAccounts(postgres.url(), keyFile)
  const { perSecond, acknowledgesEarly } = options
  const spool = await Spool.open(ACCOUNTS, { chats: CHATS, perSecond })
  opened.defer(() => spool.close())
  const port = await freePort()
  const { way = async (_, port) => port } = options
  const database = new URL(postgres.url())
  database.port = `${await way('database', Number(database.port))}`
  const service = new ServiceProcess({
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled'),
    KILL_DATABASE_URL: database.href,
    KILL_KEY_FILE: keyFile,
    KILL_PORT: `${port}`,
    SPOOL_PORT: `${await way('network', spool.port)}`,
    SPOOL_ACKNOWLEDGES_EARLY: `${acknowledgesEarly}`,
    ...options.environment,
  })
  opened.defer(() => service.stop())
  service.start()
  const { webhookConnections } = options
  const consumers = keys.map((key) => {
    const url = `http://127.0.0.1:${port}/bot${key}`
    return webhookConnections ? new HookConsumer(url, webhookConnections) : new Consumer(url)
  })
  opened.defer(async () => {
    await Promise.all(consumers.map((consumer) => consumer.stop()))
  })
  for (const consumer of consumers) consumer.start()
  const toClose = opened.move()
  return { postgres, spool, service, port, consumers, close: () => toClose.disposeAsync() }
}

/** Resolves with a key of each. */
async function linkAccounts(databaseUrl: string, keyFile: string): Promise<string[]> {
  await migrate(databaseUrl)
  const db = openDatabase({ url: databaseUrl, logger: quietLogger })
  try {
    const vault = await openVault({ db, keyFile, logger: quietLogger })
    const keys: string[] = []
    for (const name of ACCOUNTS) keys.push(await linkedAccount(db, vault, name))
    return keys
  } finally {
    await db.close()
  }
}

/** The same for every start of the service. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
