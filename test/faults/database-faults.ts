/** What happens to databases: stopped, frozen, cut off, locked, read-only, impatient. */
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import type { Stage } from '../kill/stage.ts'
import { again, type Fault } from './fault.ts'

/** By somebody else, on the server's own database: what is done to everybody in ours does not meet them. */
async function asOperator(stage: Stage): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: stage.postgres.url('postgres') })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

const ours = `pg_stat_activity where datname = 'chapar' and backend_type = 'client backend'`

const stopped: Fault = {
  name: 'database stopped',
  async begin({ postgres }) {
    await postgres.halt()
    return () => postgres.revive()
  },
}

const killed: Fault = {
  name: 'database killed',
  async begin({ postgres }) {
    await postgres.crash()
    return async () => undefined
  },
}

const frozen: Fault = {
  name: 'database frozen (SIGSTOP)',
  missing: process.platform === 'linux' ? undefined : 'needs /proc',
  async begin({ postgres }) {
    const family = [postgres.pid, ...(await childrenOf(postgres.pid))]
    for (const pid of family) process.kill(pid, 'SIGSTOP')
    return async () => {
      for (const pid of family) process.kill(pid, 'SIGCONT')
    }
  },
}

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`)
  const lists = tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8'))
  return (await Promise.all(lists)).join(' ').trim().split(/\s+/).filter(Boolean).map(Number)
}

/** The same statement again and again. */
const repeated = (name: string, everyMs: number, sql: string): Fault => ({
  name,
  async begin(stage) {
    const client = await asOperator(stage)
    const stop = again(everyMs, () => client.query(sql))
    return async () => {
      await stop()
      await client.end()
    }
  },
})

/** A transaction of somebody else that holds on to something. */
const held = (name: string, sql: string): Fault => ({
  name,
  async begin(stage) {
    const client = new pg.Client({ connectionString: stage.postgres.url() })
    client.on('error', () => undefined)
    await client.connect()
    await client.query('begin')
    await client.query(sql)
    return async () => {
      await client.query('rollback')
      await client.end()
    }
  },
})

const readOnly: Fault = {
  name: 'database read-only',
  async begin(stage) {
    const client = await asOperator(stage)
    const turn = async (state: 'on' | 'off') => {
      await client.query(`alter database chapar set default_transaction_read_only = ${state}`)
      await client.query(`select pg_terminate_backend(pid) from ${ours}`)
    }
    await turn('on')
    return async () => {
      await turn('off')
      await client.end()
    }
  },
}

export const databaseFaults: readonly Fault[] = [
  stopped,
  killed,
  frozen,
  repeated(
    'all backends terminated, twice a second',
    500,
    `select pg_terminate_backend(pid) from ${ours}`,
  ),
  // As a statement_timeout that is too short does it: the code is the same.
  repeated(
    'statements cancelled after moments',
    20,
    `select pg_cancel_backend(pid) from ${ours} and state = 'active'`,
  ),
  held('update_log locked', 'lock table update_log in access exclusive mode'),
  held('rows of credential_log locked', 'select from credential_log for update'),
  held('api_key locked', 'lock table api_key in access exclusive mode'),
  readOnly,
]
