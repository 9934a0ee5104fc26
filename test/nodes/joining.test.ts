/** What nodes of one database have to have in common: one that differs from those that are up does not join. */

import { randomBytes } from 'node:crypto'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { joinNodes } from '../../src/nodes/nodes.ts'
import type { Common } from '../../src/nodes/table.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { s3Secrets, startS3 } from '../support/s3-server.ts'
import { type Service, startService } from '../support/service.ts'
import { untilLocksCount } from './old-locks.ts'

const usual: Common = { baseUrl: 'https://a.test', keys: ['k1'], files: ['f1'] }

async function joined(t: Test, on: TestDatabase, name: string, common?: Common) {
  const nodes = await joinNodes({
    db: on.database,
    url: on.url,
    logger: quietLogger,
    metrics: createMetrics(),
    ...{ name, address: null, weight: 1, version: 'test', ...(common && { common }) },
  })
  t.teardown(() => nodes.leave())
  return nodes
}

const namesIn = async ({ database }: TestDatabase) => {
  const rows = await database.query<{ name: string }>('select name from node order by id')
  return rows.map(({ name }) => name)
}

t.test('a node that differs is told what from whom', async (t) => {
  const on = await testDatabase(t)
  const first = await joined(t, on, 'first', usual)
  const refused = (other: Partial<Common>, message: RegExp) =>
    t.rejects(joined(t, on, 'second', { ...usual, ...other }), { name: 'StartFailure', message })
  await refused({ baseUrl: 'https://b.test' }, /^BASE_URL: .*b\.test.*a\.test.* is up;.*first/)
  await refused({ keys: ['k2'] }, /^KEY_FILE: .*first/)
  await refused({ keys: ['k2', 'k1'] }, /^KEY_FILE: /)
  await refused({ files: ['f2'] }, /^DATA_DIR, S3_ENDPOINT, S3_BUCKET: .*first/)
  t.same(await namesIn(on), ['first'], 'they leave no row')

  await joined(t, on, 'second', { ...usual, keys: ['k1', 'k2'], files: ['f0', 'f1'] })
  await joined(t, on, 'third', { ...usual, keys: ['k1', 'k2', 'k3'] })
  await joined(t, on, 'tool')
  t.equal(first.view().state, 'up')
})

t.test('of nodes that join at once and differ only one does', async (t) => {
  const on = await testDatabase(t)
  const joining = ['a', 'b', 'c', 'd'].map((name) =>
    joined(t, on, name, { ...usual, baseUrl: `https://${name}.test` }),
  )
  const outcomes = await Promise.allSettled(joining)
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  t.equal((await namesIn(on)).length, 1)
})

t.test('nodes that have ended do not count', async (t) => {
  const on = await testDatabase(t)
  await untilLocksCount(on)
  const first = await joined(t, on, 'first', usual)
  await first.leave()
  await joined(t, on, 'second', { baseUrl: 'https://b.test', keys: ['k2'], files: ['f2'] })
  await on.database.query(
    `insert into node (name, version, schema, state, common) values ('lost', '1', '1', 'up', $1)`,
    [JSON.stringify(usual)],
  )
  await joined(t, on, 'third', { baseUrl: 'https://b.test', keys: ['k2'], files: ['f2'] })
})

const beside = (t: Test, { databaseUrl, dataDir }: Service, env: Record<string, string>) =>
  startService(t, { databaseUrl, env: { NODE_NAME: 'two', DATA_DIR: dataDir, ...env } })

t.test('a service beside another one', async (t) => {
  const one = await startService(t, { env: { NODE_NAME: 'one' } })
  const keys = join(one.dataDir, 'keys')

  await t.rejects(beside(t, one, { BASE_URL: 'http://other.test' }), /^BASE_URL: .*node one/)
  const elsewhere = t.testdir()
  await t.rejects(
    beside(t, one, { DATA_DIR: elsewhere, KEY_FILE: keys }),
    /^DATA_DIR, S3_ENDPOINT, S3_BUCKET: .*node one/,
  )
  const more = join(elsewhere, 'more-keys')
  const text = await readFile(keys, 'utf8')
  const added = `${randomBytes(32).toString('base64')}\n`
  await writeFile(more, added + text, { mode: 0o600 })
  await t.rejects(beside(t, one, { KEY_FILE: more }), /^KEY_FILE: .*node one/)
  const { url } = one
  t.equal((await fetch(`${url}/health/ready`)).status, 200)
  const client = await one.client()
  t.ok(await client.person('Ada', 'still_there'), 'and the first one opens what it has sealed')

  await cp(keys, more)
  await writeFile(more, text + added, { mode: 0o600 })
  const two = await beside(t, one, { KEY_FILE: more })
  t.match(two.gateway.address, /^http/)
})

t.test('files on S3 need one bucket', async (t) => {
  const { endpoint, region } = (await startS3(t)).options
  const env = {
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_BUCKET: 'files',
    S3_ACCESS_KEY_ID: s3Secrets.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3Secrets.secretAccessKey,
  }
  const one = await startService(t, { env: { NODE_NAME: 'one', ...env } })
  const KEY_FILE = join(one.dataDir, 'keys')
  const own = { ...env, KEY_FILE, DATA_DIR: t.testdir() }
  await t.rejects(beside(t, one, { ...own, S3_BUCKET: 'others' }), /^DATA_DIR, S3_ENDPOINT/)
  await t.rejects(beside(t, one, { KEY_FILE, DATA_DIR: t.testdir() }), /^DATA_DIR, S3_ENDPOINT/)
  const two = await beside(t, one, own)
  t.match(two.gateway.address, /^http/)
})
