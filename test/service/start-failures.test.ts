/** What keeps the service from starting is told in one line, which names the variable. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline, Transform } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/process/fatal-errors.ts'
import { testDatabase } from '../support/database.ts'
import { mounted } from '../support/mounted.ts'

t.setTimeout(400_000)

/** Without what this process was given for its own database. */
const { DATABASE_URL: _, ...rest } = process.env

/** Outside of the checkout, and open to the account that runs Postgres when we are root. */
function folder(t: Pick<Test, 'teardown'>): string {
  const path = mkdtempSync(join(tmpdir(), 'chapar-start-'))
  chmodSync(path, 0o755)
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function start(t: Test, env: NodeJS.ProcessEnv) {
  const service = spawn(process.execPath, ['src/main.ts'], {
    env: { ...rest, HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(folder(t), 'data'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => service.kill('SIGKILL'))
  const [out, errors, [code]] = await Promise.all([
    text(service.stdout),
    text(service.stderr),
    once(service, 'exit'),
  ])
  return { out, errors, code }
}

/** One line that says this, and no stack, neither there nor in the log. */
async function refused(t: Test, env: NodeJS.ProcessEnv, line: RegExp, code = 69) {
  const { out, errors, code: ended } = await start(t, env)
  t.match(errors, line)
  t.match(errors, /^chapar: .+\n$/, 'one line')
  t.notMatch(out, /\n {4}at |\\n {4}at /, 'no stack')
  t.equal(ended, code)
}

async function listening(t: Test, served: Parameters<typeof createServer>[1] = () => undefined) {
  const server = createServer(served).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

t.test('the codes are those that supervisors know', async (t) => {
  t.same(exitCodes, { cannotStart: 69, misconfigured: 78 })
})

t.test('a port in use', async (t) => {
  const { url } = await testDatabase(t)
  const PORT = `${await listening(t)}`
  const line = new RegExp(`^chapar: PORT, HOST: 127\\.0\\.0\\.1:${PORT}: in use by another process`)
  await refused(t, { DATABASE_URL: url, PORT }, line)
  await refused(t, { DATABASE_URL: url, PORT, NODES: '2' }, line)
})

t.test('data in use by another process', { timeout: 100_000 }, async (t) => {
  const DATA_DIR = join(folder(t), 'data')
  const env = { ...rest, HOST: '127.0.0.1', PORT: '0', DATA_DIR }
  const first = spawn(process.execPath, ['src/main.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    first.kill('SIGTERM')
    await once(first, 'exit')
  })
  for await (const line of createInterface(first.stdout)) if (/is running/.test(line)) break
  first.stdout.resume()
  const line = /^chapar: DATA_DIR: Another process uses the database in .*data\/postgres/
  await refused(t, { DATA_DIR }, line)
})

t.test('a database that cannot be reached, or lets nobody in', async (t) => {
  const port = await listening(t, (socket) => socket.destroy())
  const nobody = `postgres://chapar:canary-7f3a@127.0.0.1:1/chapar`
  const nowhere = /^chapar: DATABASE_URL: 127\.0\.0\.1:1: nobody listens there \(ECONNREFUSED\)/
  await refused(t, { DATABASE_URL: nobody }, nowhere)
  await refused(t, { DATABASE_URL: nobody.replace(':1/', `:${port}/`) }, /^chapar: DATABASE_URL: /)
  const { url } = await testDatabase(t)
  const wrong = Object.assign(new URL(url), { password: 'canary-7f3a' }).href
  await refused(t, { DATABASE_URL: wrong }, /DATABASE_URL: password authentication failed/)
})

t.test('a database that has no connection left is named, whatever it is asked for', async (t) => {
  const { url, database } = await testDatabase(t)
  const [{ owner } = { owner: '' }] = await database.query<{ owner: string }>(
    'select current_user as owner',
  )
  const role = `crowded_${process.pid}`
  await database.query(`create role ${role} login password 'p' in role ${owner}`)
  t.teardown(() => database.query(`drop role ${role}`))
  const crowded = Object.assign(new URL(url), { username: role, password: 'p' }).href
  // One is enough for the migrations, but not for the vault beside the probe of writes.
  for (const most of [0, 1]) {
    await database.query(`alter role ${role} connection limit ${most}`)
    const line =
      /^chapar: DATABASE_URL: the database has no connection left: end what holds them, or raise its max_connections \(53300\)$/m
    await refused(t, { DATABASE_URL: crowded }, line)
  }
})

t.test('a database that is too old', async (t) => {
  const { url } = await testDatabase(t)
  const [target, address] = [new URL(url), new URL(url)]
  // The length of the value, and the value: the version as the number that it is asked for.
  const aged = (chunk: Buffer) => chunk.toString('latin1').replace('\x06180', '\x06130')
  const age = () =>
    new Transform({
      transform: (chunk, _, done) => done(null, Buffer.from(aged(chunk), 'latin1')),
    })
  const port = await listening(t, (socket) => {
    const server = connect(Number(target.port), target.hostname)
    pipeline(socket, server, age(), socket, () => undefined)
  })
  address.port = `${port}`
  const line = /^chapar: DATABASE_URL: PostgreSQL 14 or newer is needed, this is 13/
  await refused(t, { DATABASE_URL: address.href }, line)
})

t.test('a database that a newer version has used', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query(`insert into migration (name) values ('9999-later')`)
  await database.query(`update schema_minimum set migration = '9999-later'`)
  const line = /^chapar: DATABASE_URL: this database is for versions .* the migration 9999-later/
  await refused(t, { DATABASE_URL: url }, line)
})

t.test('an address that is none', async (t) => {
  const line = /^chapar: configuration: REDIS_URL must be an address/
  await refused(t, { REDIS_URL: 'redis://:a#b@h:1' }, line, exitCodes.misconfigured)
})

t.test('a folder that cannot be written to', async (t) => {
  const file = join(folder(t), 'file')
  writeFileSync(file, '')
  await refused(
    t,
    { DATA_DIR: join(file, 'data') },
    /^chapar: DATA_DIR: .*: a file, where a folder is wanted/,
  )
  await refused(t, { DATA_DIR: '/proc/chapar/data' }, /^chapar: DATA_DIR: .*'\/proc\/chapar'/)
})

t.test('a file system that is read-only, or full', { timeout: 100_000 }, async (t) => {
  const disk = await mounted(t, '1m')
  if (!disk) return t.pass('a disk of its own cannot be mounted here')
  writeFileSync(join(disk.path, 'filler'), Buffer.alloc(1_048_576 - 8_192))
  await refused(t, { DATA_DIR: join(disk.path, 'data') }, /^chapar: DATA_DIR: .*the disk is full/)
  await disk.remount('ro')
  for (const path of ['data', 'some/where/data']) {
    const DATA_DIR = join(disk.path, path)
    await refused(t, { DATA_DIR }, /^chapar: DATA_DIR: .*: the file system is read-only \(EROFS\)/)
  }
})

t.test('a disk that is too small for the database', async (t) => {
  for (const size of ['8m', '20m']) {
    const disk = await mounted(t, size)
    if (!disk) return t.pass('a disk of its own cannot be mounted here')
    const DATA_DIR = join(disk.path, 'data')
    await refused(t, { DATA_DIR }, /^chapar: DATA_DIR: .*: the disk is full \(ENOSPC\)/)
  }
})

t.test('a database that cannot take the tables of the queues', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query('drop schema bullmq cascade')
  await database.query('create schema bullmq create table job (foreign_to_us int)')
  await refused(t, { DATABASE_URL: url }, /^chapar: DATABASE_URL: relation "job" already exists/)
})

t.test('a key file that is missing, broken or a folder', { timeout: 100_000 }, async (t) => {
  const { url, database } = await testDatabase(t)
  const DATA_DIR = folder(t)
  const env = { DATABASE_URL: url, DATA_DIR }
  writeFileSync(join(DATA_DIR, 'keys'), 'nonsense\n', { mode: 0o600 })
  await refused(t, env, /^chapar: KEY_FILE: key 1 of the key file is malformed/)
  rmSync(join(DATA_DIR, 'keys'))
  mkdirSync(join(DATA_DIR, 'keys'))
  await refused(t, env, /^chapar: KEY_FILE: /)
  rmSync(join(DATA_DIR, 'keys'), { recursive: true })
  await database.query(
    `insert into data_key (id, owner, kek, wrapped) values (gen_random_uuid(), 'x', 'gone', '')`,
  )
  await refused(t, env, /^chapar: KEY_FILE: the key file .* is missing, but secrets are stored/)
  const { out, errors } = await start(t, { ...env, LOG_LEVEL: 'debug' })
  t.match(errors, /^chapar: KEY_FILE: /)
  t.match(out, /"stack":/, 'the details are there for those who ask')
})
