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
import { TelegramNetwork } from '../support/telegram-dc/network.ts'
import type { Toxiproxy } from '../support/toxiproxy.ts'
import {
  type Accounts,
  type AccountsPlan,
  historiesOf,
  linkIdle,
  openAccounts,
} from './accounts.ts'
import { Balancer } from './balancer.ts'
import { violationsOf } from './checker.ts'
import { type ExclusiveAccounts, openExclusive, telegramFor } from './exclusive.ts'
import { type JudgedAccount, openJudged } from './linearizable.ts'
import type { Load } from './load.ts'
import { type Machine, openNetwork } from './network.ts'
import { openPeerLines } from './peer-lines.ts'
import { type Release, unpackRelease } from './release.ts'
import { openToxiproxy, spoilable } from './toxics.ts'
import { namedFor, recordWrites } from './writes.ts'
import { openXmpp, type XmppAccounts } from './xmpp.ts'

/** What is opened is closed in reverse order. */
export interface Testing {
  teardown(work: () => Promise<void> | void): void
}

export interface StagePlan extends AccountsPlan {
  readonly nodes: number
  /** Accounts beside those with load. */
  readonly idle: number
}

/** What a suite has beside the nodes. */
export interface StageNeeds {
  readonly redis?: boolean
  /** Nodes start as the last release. */
  readonly release?: boolean
  /** Each node is reached by the others over a line of its own. */
  readonly peerLines?: boolean
  /** Each node is in a network namespace of its own. */
  readonly network?: boolean
  /** So many accounts of which only one node may speak at a time. */
  readonly exclusive?: number
  /** So many accounts on each XMPP server that is here. */
  readonly xmpp?: number
  /** An account on whose key all calls are recorded. */
  readonly judged?: boolean
  /** Each node gets to the database and to Redis through Toxiproxy. */
  readonly toxics?: boolean
}

export interface StageNode {
  readonly name: string
  readonly url: string
  /** Its line to the database. */
  readonly line: Relay
  /** The line of the other nodes to it. */
  readonly peerLine: Relay | undefined
  /** Where it runs, if not beside the others. */
  readonly machine: Machine | undefined
  readonly process: RemoteService
  /** From this tree, or from another one. */
  start(tree?: string): Promise<void>
}

export interface Stage {
  readonly postgres: PostgresProcess
  /** Of the nodes, where they have one. */
  readonly redis: RedisServer | undefined
  readonly release: Release | undefined
  /** Not over the lines of the nodes. */
  readonly database: Database
  readonly nodes: readonly StageNode[]
  readonly balancer: Balancer
  /** Of the accounts with load. */
  readonly credentialIds: readonly number[]
  readonly load: Load
  readonly exclusive: ExclusiveAccounts | undefined
  readonly xmpp: XmppAccounts | undefined
  readonly judged: JudgedAccount | undefined
  readonly toxiproxy: Toxiproxy | undefined
  /** All nodes are up, and each has its share. */
  settled(): Promise<void>
  /** The owner of each account, as the table has it. */
  owners(): Promise<ReadonlyMap<number, string>>
  /** Ends the load, waits until all is delivered, and judges. */
  verdict(): Promise<string[]>
}

const common = {
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
  MAX_CONNECTIONS_PER_ADDRESS: '1000000',
}

export async function setStage(t: Testing, plan: StagePlan, needs: StageNeeds): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-cluster-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const postgres = await PostgresProcess.start({
    dir: join(folder, 'postgres'),
    logger: quietLogger,
  })
  t.teardown(() => postgres.stop())
  const redis = needs.redis ? await startRedis(t) : undefined
  const release = needs.release ? await unpackRelease(t) : undefined
  const network = needs.network ? await openNetwork(t, plan.nodes) : undefined
  const telegram = needs.exclusive ? await TelegramNetwork.start(t) : undefined
  const telegramOf = telegram && (await telegramFor(telegram))
  const names = Array.from({ length: plan.nodes }, (_, at) => `node-${at + 1}`)
  const toxiproxy = needs.toxics ? await openToxiproxy(t) : undefined
  const peerLines = needs.peerLines ? await openPeerLines(t, postgres.url(), names) : undefined
  const nodes: StageNode[] = []
  let user: Client | undefined
  const shared = {
    DATA_DIR: join(folder, 'data'),
    ...(redis && { REDIS_URL: redis.url }),
  }
  for (const [at, name] of names.entries()) {
    const line = await Relay.start(() => Number(new URL(postgres.url()).port), network?.address)
    t.teardown(() => line.stop())
    const machine = network?.machines[at]
    const spoiled = toxiproxy && (await spoilable(toxiproxy, name, line.port, redis))
    const environment = { ...shared, ...spoiled?.environment, ...telegramOf?.(at) }
    const entry = telegramOf && 'telegram-process.ts'
    const parts = {
      name,
      line,
      peerLine: peerLines?.get(name),
      machine,
      postgres,
      environment,
      entry,
      databasePort: spoiled?.databasePort ?? line.port,
    }
    const node = await startNode(t, parts, network?.address, release?.tree)
    nodes.push(node)
    // While it is alone: the code is printed by any node.
    user ??= await lastingClient(node.process)
  }
  if (!user) throw new Error('there is no node')
  const balancer = new Balancer(nodes)
  await balancer.listen()
  t.teardown(() => balancer.close())
  await until(() => balancer.ready === nodes.length)
  const database = openDatabase({ url: postgres.url(), logger: quietLogger })
  t.teardown(() => database.close())
  await recordWrites(database)
  const client = user.at(balancer.url)
  await linkIdle(client, plan.idle)
  const accounts = await openAccounts(t, client, { ...plan, host: network?.address })
  const exclusive = telegram && (await openExclusive(t, client, telegram, needs.exclusive ?? 0))
  const xmpp = needs.xmpp ? await openXmpp(t, client, needs.xmpp) : undefined
  const judged = needs.judged ? await openJudged(client) : undefined
  balancer.failed.length = 0
  const opened = { exclusive, xmpp, judged, client, toxiproxy }
  const parts = { postgres, redis, release, database, nodes, balancer, ...opened }
  return finished(parts, accounts)
}

async function startRedis(t: Testing): Promise<RedisServer> {
  const redis = await RedisServer.create(t)
  await redis.start()
  return redis
}

/** An access token lives ten minutes, a suite longer. */
async function lastingClient(service: RemoteService): Promise<Client> {
  const client = await service.client('+14155550177')
  const named = { name: 'load' }
  const scoped = { ...named, scopes: ['read', 'link', 'keys', 'send'] }
  const { status, body } = await client.ask('POST', '/user/tokens', scoped)
  // A release that does not know scopes gives every token all of them.
  const { token } =
    status === 400 ? await client.result('POST', '/user/tokens', named) : body.result
  return client.byPersonalToken(token)
}

interface NodeParts extends Pick<StageNode, 'name' | 'line' | 'peerLine' | 'machine'> {
  readonly postgres: PostgresProcess
  readonly environment: Readonly<Record<string, string>>
  /** The program of its process, where it is not the service as it is. */
  readonly entry: string | undefined
  readonly databasePort: number
}

async function startNode(
  t: Testing,
  { postgres, environment, entry, databasePort, ...parts }: NodeParts,
  databaseHost = '127.0.0.1',
  firstTree?: string,
): Promise<StageNode> {
  const { name, machine } = parts
  const port = await freePort()
  const address = new URL(postgres.url())
  address.hostname = databaseHost
  address.port = `${databasePort}`
  const options = {
    name,
    port,
    env: { ...common, ...environment },
    ...(entry && { entry }),
    ...(machine && { host: machine.address, within: machine.within }),
  }
  let starts = 0
  const open = (tree?: string) => {
    const databaseUrl = namedFor(address, name, ++starts)
    return startRemote(t, { ...options, databaseUrl, ...(tree && { tree }) })
  }
  let process = await open(firstTree)
  return {
    ...parts,
    url: process.url,
    get process() {
      return process
    },
    async start(tree) {
      process = await open(tree)
    },
  }
}

type Parts = Omit<Stage, 'settled' | 'owners' | 'verdict' | 'credentialIds' | 'load'>

function finished(parts: Parts & { readonly client: Client }, accounts: Accounts): Stage {
  const { nodes, balancer, database, client } = parts
  const owners = async () => {
    const rows = await database.query<{ id: number; name: string }>(
      `select l.credential_id as id, n.name from credential_log l
         join node n on n.id = l.owner and n.ended_at is null`,
    )
    return new Map(rows.map(({ id, name }) => [id, name]))
  }
  return {
    ...parts,
    credentialIds: accounts.all.map(({ credentialId }) => credentialId),
    load: accounts.load,
    owners,
    settled: () =>
      until(async () => {
        const shares = new Set((await owners()).values())
        return balancer.ready === nodes.length && shares.size === nodes.length
      }, 60_000).then(() => undefined),
    verdict: async () => [
      ...(await historiesOf(accounts, client, database)).flatMap(violationsOf),
      ...(parts.exclusive?.violations() ?? []),
      ...((await parts.xmpp?.histories(database)) ?? []).flatMap(violationsOf),
      ...(parts.judged?.violations ?? []),
    ],
  }
}
