/** The rows of all nodes in PostgreSQL: each node holds a lock while its connection stands, and counts its beats. */
import { connect as connectTcp } from 'node:net'
import type { Joined, NodeTable } from '../../actors/node/actor.ts'
import type { NodeRow, Verdict } from '../../actors/node/observer.ts'
import {
  type Connection,
  connect,
  type Database,
  NODE_LOCK_CLASS as LOCK_CLASS,
  type Queryable,
} from '../database/database.ts'
import { assertKnown, MINIMUM, newestKnown } from '../database/migrate.ts'
import { StartFailure } from '../process/fatal-errors.ts'
import { bare, PROTOCOL } from './peers.ts'

const DAYS_KEPT = 7
/** Seconds within which a node that joins has its lock. */
const JOINING_TAKES = 10

/** A part of a `with`: the incarnations whose lock is held, as `locks (id, pid)`. */
const locks = `locks as materialized (
  select l.objid::int as id, l.pid from pg_locks l
   where l.locktype = 'advisory' and l.classid = ${LOCK_CLASS} and l.objsubid = 2 and l.granted
     and l.database = (select oid from pg_database where datname = current_database()))`

const columns = `n.id as incarnation, n.name, n.address, n.version, n.schema, n.protocol, n.weight, n.state, n.beats, n.drain as "isToDrain",
  n.id in (select id from locks) as "isLocked", n.started_at as "startedAt"`

/**
 * SQL: the milliseconds since the server had no locks: since its start, the last commit that it had read as a standby, or the
 * end of a backend by a crash, after which it begins anew in the same process, and its statistics too. Others may also reset
 * those: then locks are mistrusted for a moment.
 */
export const SERVER_MS = `(extract(epoch from clock_timestamp()
  - greatest(pg_postmaster_start_time(), pg_last_xact_replay_timestamp(),
             (select stats_reset from pg_stat_bgwriter))) * 1000)::float8`

/** Nodes come back to a server that has restarted within this time: until then a free lock says little. */
const LOCKS_ARE_NEW_MS = 10_000

/** How this node shows itself to the others. */
export interface NodeFacts {
  readonly name: string
  readonly address: string | null
  readonly version: string
  /** Its share of the accounts, beside those of the others. */
  readonly weight: number
  /** The settings that all nodes must share; absent for a tool that needs none of them. */
  readonly common?: Common
}

/** A node that has ended: it left, or others declared it gone. */
export interface EndedRow extends Omit<NodeRow, 'state'> {
  readonly state: 'left' | 'gone'
  readonly endedAt: Date
}

/** The figures that a node reports every two seconds; null before its first report. */
export interface NodeFigures {
  /** Polls that wait for updates. */
  readonly held: number
  /** Requests that wait for an account to have an owner. */
  readonly parked: number
  /** The longest that its event loop was held up, of the last two seconds. */
  readonly lagMs: number
  readonly memoryMb: number
}

/** Reported with every eighth beat, which is often enough for people. */
const BEATS_BETWEEN_FIGURES = 8

interface TableOptions extends NodeFacts {
  readonly db: Database
  /** For a connection of its own: the beats of a busy node must not wait for the pool. */
  readonly url: string
  /** No other process reaches the database: whoever had its locks before has ended. */
  readonly isSole?: boolean
}

export class PostgresNodes implements NodeTable {
  readonly #options: TableOptions
  #connection: Connection | undefined
  #isLocked = false
  #beats = 0
  /** Undefined until the node is whole. */
  figures: (() => NodeFigures) | undefined

  constructor(options: TableOptions) {
    this.#options = options
  }

  async join(): Promise<Joined> {
    const { db, name, address, version, weight, common, isSole } = this.#options
    // The lock of the number before would protect that number.
    await this.#disconnect()
    const joined = await db.transaction(async (tx) => {
      // One after the other: of two that come at once, one sees the other.
      await tx.query('select pg_advisory_xact_lock($1, 0)', [LOCK_CLASS])
      const [server] = await tx.query<{ ms: number }>(`select ${SERVER_MS} as ms`)
      const areLocksNew = isSole !== true && (server?.ms ?? 0) < LOCKS_ARE_NEW_MS
      const rows = await presentRows(tx)
      const ended = await endedOf(rows, address, areLocksNew)
      // A predecessor that crashed need not wait for the others to notice.
      const mayHaveEnded = rows.filter((row) => row.name === name && ended.has(row))
      const answer = await Promise.all(mayHaveEnded.map((row) => this.#answers(row)))
      const predecessors = mayHaveEnded.filter((_, at) => !answer[at])
      await tx.query(
        `with old as (delete from node where ended_at < now() - interval '${DAYS_KEPT} days')
         update node set state = 'gone', ended_at = now(), ended_by = 'crashed'
          where id = any($1) and ended_at is null`,
        [predecessors.map(({ id }) => id)],
      )
      // What this version uses may have been taken away since it looked.
      const [minimum] = await tx.query<{ migration: string }>(MINIMUM)
      assertKnown(minimum?.migration)
      if (common) assertCommon(common, neighboursIn(rows, ended))
      const [row] = await tx.query<{ id: number }>(
        `insert into node (name, address, version, weight, common, schema, protocol)
         values ($1, $2, $3, $4, $5, $6, $7) returning id`,
        [name, address, version, weight, common && JSON.stringify(common), newestKnown(), PROTOCOL],
      )
      return { incarnation: row?.id ?? 0, areLocksNew }
    })
    await this.#lock(await this.#connected(), joined.incarnation)
    return joined
  }

  async beat(
    incarnation: number,
    state: 'up' | 'draining',
  ): Promise<readonly NodeRow[] | undefined> {
    try {
      const connection = await this.#connected()
      if (!this.#isLocked) await this.#lock(connection, incarnation)
      const isTold = this.#beats++ % BEATS_BETWEEN_FIGURES === 0
      const figures = isTold ? this.#readFigures() : undefined
      return await beatOn(connection, { incarnation, state, figures })
    } catch (cause) {
      await this.#disconnect()
      throw cause
    }
  }

  async declareGone({ row, cause }: Verdict): Promise<boolean> {
    const { db } = this.#options
    const { incarnation, beats } = row
    if (cause === 'crashed' && (await this.#answers(row))) return false
    const declared = await db.query(
      `update node set state = 'gone', ended_at = now(), ended_by = $3
        where id = $1 and beats = $2 and ended_at is null returning id`,
      [incarnation, beats, cause],
    )
    if (declared.length === 0) return false
    // The lock of a frozen process would stand for a living one.
    await db.query(`with ${locks} select pg_terminate_backend(pid) from locks where id = $1`, [
      incarnation,
    ])
    return true
  }

  async leave(incarnation: number): Promise<void> {
    try {
      await this.#options.db.query(
        `update node set state = 'left', ended_at = now() where id = $1 and ended_at is null`,
        [incarnation],
      )
    } finally {
      await this.#disconnect()
    }
  }

  /**
   * Whether one whose lock is free is only cut off from the database: it goes on answering for as long as it trusts itself, and
   * its silence tells when that is over. Nobody else listens at the address of this node.
   */
  async #answers({ address }: { readonly address: string | null }): Promise<boolean> {
    const { address: own, isSole } = this.#options
    if (isSole || address === null || address === own) return false
    return (await knock(address)) === 'listens'
  }

  /** The system keeps some in files, and a process that may open no more of them is alive. */
  #readFigures(): NodeFigures | undefined {
    try {
      return this.figures?.()
    } catch {
      return undefined
    }
  }

  async #connected(): Promise<Connection> {
    if (this.#connection) return this.#connection
    const connection = await connect(this.#options.url, 'chapar node')
    this.#connection = connection
    // A host that loses its power sends no goodbye: the server looks for it after eight seconds. A beat that the server
    // forgets in a crash is no loss.
    await connection.query(
      `select set_config('tcp_keepalives_idle', '2', false), set_config('tcp_keepalives_interval', '2', false),
              set_config('tcp_keepalives_count', '2', false), set_config('synchronous_commit', 'off', false)`,
    )
    return connection
  }

  /** The server may still hold the lock for a connection that is lost: then the next beat tries again. */
  async #lock(connection: Connection, incarnation: number): Promise<void> {
    const [row] = await connection.query<{ taken: boolean }>(
      'select pg_try_advisory_lock($1, $2) as taken',
      [LOCK_CLASS, incarnation],
    )
    this.#isLocked = row?.taken === true
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    this.#isLocked = false
    await connection?.close().catch(() => undefined)
  }
}

/** A row that has not ended, as a node that joins sees it. */
interface PresentRow {
  readonly id: number
  readonly name: string
  readonly address: string | null
  readonly common: Common | null
  readonly isLocked: boolean
  /** It has its lock in a moment. */
  readonly isJoining: boolean
}

const presentRows = (tx: Queryable): Promise<PresentRow[]> =>
  tx.query<PresentRow>(
    `with ${locks} select id, name, address, common, id in (select id from locks) as "isLocked",
            state = 'joining' and started_at > now() - make_interval(secs => ${JOINING_TAKES}) as "isJoining"
       from node where ended_at is null order by id`,
  )

/**
 * Those whose process has ended. While locks are new, a free one does not say so, because the living may not have come back: an
 * address at which nobody listens does, or only this node.
 */
async function endedOf(
  rows: readonly PresentRow[],
  ownAddress: string | null,
  areLocksNew: boolean,
): Promise<ReadonlySet<PresentRow>> {
  const isOver = async ({ isLocked, isJoining, address }: PresentRow) => {
    if (isLocked || isJoining) return false
    if (!areLocksNew) return true
    return address !== null && (address === ownAddress || (await isRefused(address)))
  }
  const areOver = await Promise.all(rows.map(isOver))
  return new Set(rows.filter((_, at) => areOver[at]))
}

const IS_UP = 'which is up'
const MAY_BE_UP =
  'which was up when the database restarted (if it has ended since, try again in ten seconds)'

/** With which this node has to agree. */
const neighboursIn = (
  rows: readonly PresentRow[],
  ended: ReadonlySet<PresentRow>,
): readonly Neighbour[] =>
  rows.flatMap((row) => {
    const { name, common, isLocked, isJoining } = row
    const lives = isLocked || isJoining ? IS_UP : MAY_BE_UP
    return common && !ended.has(row) ? [{ name, common, lives }] : []
  })

interface Beat {
  readonly incarnation: number
  readonly state: 'up' | 'draining'
  readonly figures: NodeFigures | undefined
}

async function beatOn(
  connection: Connection,
  { incarnation, state, figures }: Beat,
): Promise<readonly NodeRow[] | undefined> {
  const rows = await connection.query<NodeRow & { counted: number | null }>(
    {
      name: 'node-beat',
      text: `with ${locks}, mine as (
               update node set beats = beats + 1, state = $2, figures = coalesce($3::jsonb, figures)
                where id = $1 and ended_at is null returning id)
             select ${columns}, (select id from mine) as counted from node n
              where n.ended_at is null order by n.id`,
    },
    [incarnation, state, figures ? JSON.stringify(figures) : null],
  )
  return rows[0]?.counted === incarnation ? rows.map(({ counted, ...row }) => row) : undefined
}

/** The nodes that ended within a week, the latest first. */
export const endedNodes = (db: Pick<Database, 'query'>): Promise<EndedRow[]> =>
  db.query<EndedRow>(
    `with ${locks} select ${columns}, n.ended_at as "endedAt" from node n
      where n.ended_at is not null order by n.ended_at desc limit 100`,
  )

/** All nodes that have not ended, as their rows stand now. */
export const livingNodes = (db: Pick<Database, 'query'>): Promise<NodeRow[]> =>
  db.query<NodeRow>(
    `with ${locks} select ${columns} from node n where n.ended_at is null order by n.id`,
  )

/** Settings that all nodes of a database must share. A node that differs from those that are up refuses to join. */
export interface Common {
  /** Tokens name it: those of one node have to be valid at all. */
  readonly baseUrl: string
  /** Names of the keys in the key file. The first one seals. */
  readonly keys: readonly string[]
  /** Names of the place where files lie. */
  readonly files: readonly string[]
}

/** Another node, as its row shows it. */
interface Neighbour {
  readonly name: string
  readonly common: Common
  /** What is known of its life, for whoever reads that this node differs. */
  readonly lives: string
}

const shares = (some: readonly string[], others: readonly string[]) =>
  some.some((each) => others.includes(each))

/** Throws for the first node that differs, and names the variable. */
function assertCommon(own: Common, neighbours: readonly Neighbour[]): void {
  for (const { name, common, lives } of neighbours) {
    if (common.baseUrl !== own.baseUrl) {
      throw new StartFailure(
        `BASE_URL: ${own.baseUrl} here, but ${common.baseUrl} at the node ${name}, ${lives}; to change it stop all nodes first`,
      )
    }
    // Each node must open what the other seals. While a key is replaced, the key files may differ in their order.
    const opens = own.keys.includes(common.keys[0] ?? '') && common.keys.includes(own.keys[0] ?? '')
    if (!opens) {
      throw new StartFailure(
        `KEY_FILE: it differs from that of the node ${name}, ${lives}: each needs the first key of the other, too`,
      )
    }
    if (!shares(own.files, common.files)) {
      throw new StartFailure(
        `DATA_DIR, S3_ENDPOINT, S3_BUCKET: the node ${name}, ${lives}, keeps its files elsewhere; all nodes need one bucket or one shared folder`,
      )
    }
  }
}

const ANSWERS_WITHIN_MS = 300

/** Resolves with whether nothing listens there: the process has ended, and is not merely cut off from the database. */
export const isRefused = async (address: string): Promise<boolean> =>
  (await knock(address)) === 'refused'

/** Resolves with undefined where neither is certain. */
function knock(address: string): Promise<'listens' | 'refused' | undefined> {
  const { hostname, port } = new URL(address)
  const { promise, resolve } = Promise.withResolvers<'listens' | 'refused' | undefined>()
  const socket = connectTcp({ host: bare(hostname), port: Number(port) })
  // What has come in a busy process is heard before the time is over.
  socket.setTimeout(ANSWERS_WITHIN_MS, () => setImmediate(() => resolve(undefined)))
  socket.once('connect', () => resolve('listens'))
  socket.once('error', (cause) => {
    const isRefused = 'code' in cause && cause.code === 'ECONNREFUSED'
    resolve(isRefused ? 'refused' : undefined)
  })
  return promise.finally(() => socket.destroy())
}
