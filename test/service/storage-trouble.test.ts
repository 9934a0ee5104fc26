/** The database of a running service is disturbed, again and again: nothing is lost, and delivery is back at once. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import t from 'tap'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/database/embedded/supervisor.ts'
import { until } from '../support/client.ts'
import { embeddedFolder } from '../support/embedded.ts'
import { quietLogger as logger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { linkedAccount, raw } from './scene.ts'

const run = promisify(execFile)
const RECOVERS_MS = 2_000
/** Longer than a statement may take, so that those under way are given up. */
const SILENCE_MS = 10_000

const dir = embeddedFolder(t)
mkdirSync(dir, { recursive: true })
/** Room for the cluster and little else. */
const hasDisk = await run('mount', ['-t', 'tmpfs', '-o', 'size=220m', 'tmpfs', dir]).then(
  () => true,
  () => false,
)
if (hasDisk) {
  await run('chmod', ['755', dir])
  t.teardown(async () => {
    await run('umount', ['-l', dir])
  })
}
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '64MB',
  min_wal_size: '32MB',
}
const start = () => startEmbeddedPostgres({ dir, logger, settings })
let server: EmbeddedPostgres = await start()
t.teardown(() => server.stop())
const databaseUrl = server.url()

const service = await startService(t, { databaseUrl })
const account = await linkedAccount(service)
const { client, ada, credentialId, key } = account

interface Told {
  readonly text: string
  readonly at: number
}

const acknowledged: Told[] = []
const delivered: Told[] = []
const ready: { readonly status: number; readonly at: number }[] = []
let isOver = false
const everyone: Promise<void>[] = []
const forAsLongAsItRuns = (work: () => Promise<void>) => {
  everyone.push(
    (async () => {
      while (!isOver) await work().catch(() => pause(20))
    })(),
  )
}

let written = 0
forAsLongAsItRuns(async () => {
  const text = `message ${written++} ${randomBytes(750).toString('hex')}`
  const path = `/sandbox/people/${ada.id}/messages`
  const { status } = await client.ask('POST', path, { to: '@gatebot', text })
  if (status === 200) acknowledged.push({ text, at: performance.now() })
  await pause(50)
})
let offset = 0
forAsLongAsItRuns(async () => {
  const { body, status } = await client.bot(key, 'getUpdates', { offset, timeout: 5 })
  if (status !== 200) return void (await pause(50))
  for (const { update_id, message } of body.result) {
    offset = update_id + 1
    delivered.push({ text: message.text, at: performance.now() })
  }
})
forAsLongAsItRuns(async () => {
  const { status = 0 } = await raw(service.url, '/health/ready')
  ready.push({ status, at: performance.now() })
  await pause(100)
})
t.before(() => until(() => delivered.length > 0))

const admin = async <Result>(work: (on: pg.Client) => Promise<Result>): Promise<Result> => {
  const on = new pg.Client({ connectionString: server.url(), application_name: 'tester' })
  on.on('error', () => undefined)
  await on.connect()
  try {
    await on.query('set default_transaction_read_only = off')
    return await work(on)
  } finally {
    await on.end()
  }
}
const terminate = (on: pg.Client) =>
  on.query(`select pg_terminate_backend(pid, 1000) from pg_stat_activity
             where application_name like 'chapar%'`)
const locked = (sql: string): Disturbance => {
  const release = Promise.withResolvers<void>()
  let holding: Promise<void> | undefined
  return {
    lastsMs: 5_000,
    async begin() {
      const taken = Promise.withResolvers<void>()
      holding = admin(async (on) => {
        await on.query('begin')
        await on.query(sql)
        taken.resolve()
        await release.promise
      })
      await Promise.race([taken.promise, holding])
    },
    async end() {
      release.resolve()
      await holding
    },
  }
}
const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', `${server.pid}`])
  const all = [server.pid, ...stdout.split('\n').filter(Boolean).map(Number)]
  for (const pid of name === 'SIGSTOP' ? all : all.reverse()) process.kill(pid, name)
}
const setReadOnly = (value: 'on' | 'off') =>
  admin(async (on) => {
    await on.query(`alter database chapar set default_transaction_read_only = ${value}`)
    await terminate(on)
  })
const ballast = join(dir, 'ballast')
/** PostgreSQL itself may give room back at any time, as when a checkpoint removes files of its log. */
async function keepFull(signal: AbortSignal): Promise<void> {
  const more = ['if=/dev/zero', `of=${ballast}`, 'bs=64k', 'oflag=append', 'conv=notrunc']
  while (!signal.aborted) {
    await run('dd', more).catch(() => undefined)
    await pause(50)
  }
}

interface Disturbance {
  readonly lastsMs: number
  /** No write succeeds once it has begun, or next to none. */
  readonly stopsWrites?: true
  begin(): Promise<unknown>
  end(): Promise<unknown>
}

const disturbances: Readonly<Record<string, () => Disturbance>> = {
  'every connection is ended, over and over': () => ({
    lastsMs: 0,
    begin: () =>
      admin(async (on) => {
        for (let time = 0; time < 10; time++) {
          await terminate(on)
          await pause(300)
        }
      }),
    end: async () => undefined,
  }),
  'the server is stopped': () => ({
    lastsMs: 4_000,
    stopsWrites: true,
    begin: () => server.stop(),
    async end() {
      server = await start()
    },
  }),
  'no write is allowed': () => ({
    lastsMs: 4_000,
    stopsWrites: true,
    begin: () => setReadOnly('on'),
    end: () => setReadOnly('off'),
  }),
  'the log is locked': () => locked('lock table update_log in exclusive mode'),
  'the counters of the log are locked': () => locked('select from credential_log for update'),
  'the server is silent': () => ({
    lastsMs: SILENCE_MS,
    stopsWrites: true,
    begin: () => signal('SIGSTOP'),
    end: () => signal('SIGCONT'),
  }),
  ...(hasDisk && {
    'the disk is full': () => {
      const over = new AbortController()
      let filling: Promise<void> | undefined
      return {
        lastsMs: 5_000,
        stopsWrites: true as const,
        async begin() {
          filling = keepFull(over.signal)
          // Writes go on for as long as they fit where the tables have room of their own, as after a vacuum.
          await until(() => !wasWritten(performance.now()))
        },
        async end() {
          over.abort()
          await filling
          rmSync(ballast)
        },
      }
    },
  }),
}

const wasWritten = (before: number) =>
  acknowledged.some(({ at }) => at < before && at > before - RECOVERS_MS)
const missing = () => {
  const texts = new Set(delivered.map(({ text }) => text))
  return acknowledged.filter(({ text }) => !texts.has(text))
}

for (const round of [1, 2]) {
  for (const [what, make] of Object.entries(disturbances)) {
    t.test(`${what} (${round})`, async (t) => {
      const { stopsWrites, lastsMs, begin, end } = make()
      await begin()
      const began = performance.now()
      await pause(lastsMs)
      const ending = performance.now()
      await end()
      const ended = performance.now()
      await until(() => acknowledged.some(({ at }) => at > ended) && missing().length === 0)
      const stuck = acknowledged.filter(({ at }) => at < ended + 50).at(-1)
      const back = delivered.find(({ text }) => text === stuck?.text)?.at ?? Infinity
      const first = delivered.find(({ at }) => at > ended)?.at ?? Infinity
      const recovery = Math.round(Math.max(back, first) - ended)
      process.stderr.write(`${what}: delivery was back ${recovery} ms after it\n`)
      t.ok(recovery < RECOVERS_MS, `delivered ${recovery} ms after it`)
      await until(() => ready.findLast(({ at }) => at > ended)?.status === 200)
      const green = ready.find(({ at, status }) => at > ended && status === 200)
      t.ok(green && green.at - ended < RECOVERS_MS, 'it is ready again')
      if (!stopsWrites) return
      const meanwhile = ready.filter(
        ({ at }) => at > began + RECOVERS_MS && at < ending && !wasWritten(at),
      )
      t.ok(meanwhile.length > 0)
      t.same([...new Set(meanwhile.map(({ status }) => status))], [503], 'it says so in time')
    })
  }
}

const noDisk = hasDisk ? {} : { skip: 'a disk of its own cannot be mounted here' }
t.test('the full disk was one of its own', noDisk, async (t) => t.ok(hasDisk))

t.test('nothing was lost, doubled or out of order, and no session ended', async (t) => {
  await until(() => missing().length === 0)
  isOver = true
  await Promise.all(everyone)
  const texts = delivered.map(({ text }) => text)
  t.same(texts, [...new Set(texts)], 'nothing twice')
  const numbers = texts.map((text) => Number(text.split(' ')[1]))
  t.same(
    numbers,
    numbers.toSorted((one, other) => one - other),
  )
  t.ok(acknowledged.length > 100, `${acknowledged.length} were acknowledged`)
  const path = `/platforms/credentials/${credentialId}/transitions`
  const { items } = await client.result('GET', path)
  const left = items.filter(({ from }: { from: string }) => from === 'live.online')
  t.same(left, [], 'it never left `online`')
})
