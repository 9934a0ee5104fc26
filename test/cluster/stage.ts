/** Everything that takes part: PostgreSQL, the nodes with a line of their own to it, a balancer, accounts with bots, and their load. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { PostgresProcess } from '../kill/postgres-process.ts'
import { unlimited } from '../nodes/callers.ts'
import { type RemoteService, startRemote } from '../nodes/remote-service.ts'
import { type Client, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { freePort } from '../support/ports.ts'
import { RedisServer } from '../support/redis.ts'
import { Relay } from '../support/relay.ts'
import { Balancer } from './balancer.ts'
import { BOT_KINDS, type ReceivingBot, startBot } from './bots.ts'
import { type AccountHistory, violationsOf } from './checker.ts'
import { Load } from './load.ts'

/** What is opened is closed in reverse order. */
export interface Testing {
  teardown(work: () => Promise<void> | void): void
}

interface StageOptions {
  readonly nodes: number
  readonly accounts: number
  /** Accounts beside those, without bots. */
  readonly idle: number
  /** Texts that each person writes, and each bot sends, in a second. */
  readonly perSecond: number
  /** Whether the nodes have a Redis. */
  readonly redis?: boolean
}

export interface StageNode {
  readonly name: string
  readonly url: string
  /** Its line to the database. */
  readonly line: Relay
  readonly process: RemoteService
  start(): Promise<void>
}

interface Account {
  readonly name: string
  readonly credentialId: number
  readonly botId: number
  readonly key: string
  readonly bot: ReceivingBot
  readonly load: Load
}

const AT_ONCE = 10

export interface Stage {
  readonly postgres: PostgresProcess
  /** Of the nodes, where they have one. */
  readonly redis: RedisServer | undefined
  /** Not over the lines of the nodes. */
  readonly database: Database
  readonly nodes: readonly StageNode[]
  readonly balancer: Balancer
  readonly accounts: readonly Account[]
  /** All nodes are up, and each has its share. */
  settled(): Promise<void>
  /** The owner of each account, as the table has it. */
  owners(): Promise<ReadonlyMap<number, string>>
  /** Ends the load, waits until all is delivered, and judges. */
  verdict(): Promise<string[]>
}

const environment = {
  ...unlimited,
  USER_CALLS_PER_MINUTE: '1000000',
  LINK_STARTS_PER_USER: '1000000',
  LINK_STARTS_IN_ALL: '1000000',
  SANDBOX_PEOPLE: '1000000',
  SANDBOX_CHATS: '1000000',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  NODE_WEIGHT: '1',
  REBALANCE_SECONDS: '2',
  DRAIN_SECONDS: '1',
}

export async function setStage(t: Testing, options: StageOptions): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-cluster-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const postgres = await PostgresProcess.start({
    dir: join(folder, 'postgres'),
    logger: quietLogger,
  })
  t.teardown(() => postgres.stop())
  const port = () => Number(new URL(postgres.url()).port)
  const redis = options.redis ? await startRedis(t) : undefined
  const nodes: StageNode[] = []
  let user: Client | undefined
  const shared = {
    DATA_DIR: join(folder, 'data'),
    ...(redis && { REDIS_URL: redis.url }),
  }
  for (let n = 1; n <= options.nodes; n++) {
    const line = await Relay.start(port)
    t.teardown(() => line.stop())
    const node = await startNode(t, { name: `node-${n}`, line, postgres, shared })
    nodes.push(node)
    // While it is alone: the code is printed by any node.
    user ??= await lastingClient(node.process)
  }
  if (!user) throw new Error('there is no node')
  const balancer = new Balancer(nodes.map(({ url }) => url))
  await balancer.listen()
  t.teardown(() => balancer.close())
  await until(() => balancer.ready === nodes.length)
  const client = user.at(balancer.url)
  await linkIdle(client, options.idle)
  const accounts = await openAccounts(t, client, options)
  balancer.failed.length = 0
  const database = openDatabase({ url: postgres.url(), logger: quietLogger })
  t.teardown(() => database.close())
  return finished({ postgres, redis, database, nodes, balancer, accounts, client })
}

async function startRedis(t: Testing): Promise<RedisServer> {
  const redis = await RedisServer.create(t)
  await redis.start()
  return redis
}

/** An access token lives ten minutes, a suite longer. */
async function lastingClient(service: RemoteService): Promise<Client> {
  const client = await service.client('+14155550177')
  const { token } = await client.result('POST', '/user/tokens', { name: 'load' })
  return client.byPersonalToken(token)
}

interface NodeParts {
  readonly name: string
  readonly line: Relay
  readonly postgres: PostgresProcess
  readonly shared: Readonly<Record<string, string>>
}

async function startNode(t: Testing, parts: NodeParts): Promise<StageNode> {
  const { name, line, postgres, shared } = parts
  const port = await freePort()
  const address = new URL(postgres.url())
  address.hostname = '127.0.0.1'
  address.port = `${line.port}`
  const env = { ...environment, ...shared }
  const open = () => startRemote(t, { databaseUrl: address.href, name, port, env })
  let process = await open()
  return {
    name,
    line,
    url: `http://127.0.0.1:${port}`,
    get process() {
      return process
    },
    async start() {
      process = await open()
    },
  }
}

async function inTurn<Item>(count: number, make: (n: number) => Promise<Item>): Promise<Item[]> {
  const made: Item[] = []
  for (let n = 0; n < count; n += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, at) => make(n + at))
    made.push(...(await Promise.all(some)))
  }
  return made
}

const linkIdle = (client: Client, count: number) =>
  inTurn(count, async (n) =>
    client.link(await client.person('Idle', `idle_${n}`, { phone: `+1650777${1_000 + n}` })),
  )

function openAccounts(t: Testing, client: Client, { accounts, perSecond }: StageOptions) {
  return inTurn(accounts, async (n): Promise<Account> => {
    const name = `account_${n}`
    const person = await client.person('Bot', name, { phone: `+1650778${1_000 + n}` })
    const friend = await client.person('Friend', `${name}_friend`, {
      phone: `+1650779${1_000 + n}`,
    })
    const credentialId = await client.link(person)
    const { key } = await client.key(credentialId)
    const bot = await startBot(BOT_KINDS[n % BOT_KINDS.length] ?? 'polling', client.url, key)
    t.teardown(() => bot.close())
    const load = new Load({ client, key, to: `@${name}`, from: friend.id, perSecond })
    load.start()
    t.teardown(() => load.end())
    return { name: `${name} (${bot.kind})`, credentialId, botId: person.id, key, bot, load }
  })
}

type Parts = Omit<Stage, 'settled' | 'owners' | 'verdict'> & { readonly client: Client }

function finished(parts: Parts): Stage {
  const { nodes, balancer, database, accounts } = parts
  const owners = async () => {
    const rows = await database.query<{ id: number; name: string }>(
      `select l.credential_id as id, n.name from credential_log l
         join node n on n.id = l.owner and n.ended_at is null`,
    )
    return new Map(rows.map(({ id, name }) => [id, name]))
  }
  return {
    ...parts,
    owners,
    settled: () =>
      until(async () => {
        const shares = new Set((await owners()).values())
        return balancer.ready === nodes.length && shares.size === nodes.length
      }, 60_000).then(() => undefined),
    async verdict() {
      await Promise.all(accounts.map(({ load }) => load.end()))
      const { client } = parts
      const violations: string[] = []
      for (const account of accounts) {
        violations.push(...violationsOf(await historyOf(account, client, database)))
      }
      return violations
    },
  }
}

const DELIVERED_WITHIN_MS = 30_000

async function historyOf(account: Account, client: Client, db: Database): Promise<AccountHistory> {
  const { name, credentialId, botId, bot, load } = account
  const has = () => new Set(bot.seen.map(({ text }) => text))
  const isDelivered = () => load.written.every((text) => has().has(text))
  // What is not delivered by then is what the checker tells.
  await until(isDelivered, DELIVERED_WITHIN_MS).catch(() => undefined)
  const record = await client.result('GET', `/platforms/credentials/${credentialId}`)
  const [row] = await db.query<{ state: string; updates: number; ids: number }>(
    `select c.state, count(u.*)::int as updates,
            coalesce(max(u.update_id) - min(u.update_id) + 1, 0)::int as ids
       from credential c left join update_log u on u.credential_id = c.id
      where c.id = $1 group by c.id`,
    [credentialId],
  )
  const stored = await db.query<{ text: string }>(
    `select content ->> 'text' as text from sandbox_message where sender_id = $1`,
    [botId],
  )
  return {
    name,
    written: load.written,
    seen: bot.seen,
    failures: bot.failures,
    sent: load.sent,
    unknown: load.unknown,
    stored: stored.map(({ text }) => text),
    log: { updates: row?.updates ?? 0, ids: row?.ids ?? 0 },
    states: [record.state, row?.state ?? ''],
  }
}
