/** A migrated database that test databases are copied from. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import type { TestServer } from './postgres.ts'

const src = join(import.meta.dirname, '../../src')
const lockKey = 7_465_737

let known: string | undefined

/** Changed migrations make another template; the last one made outlives the run. */
function templateName(): string {
  known ??= nameOf()
  return known
}

function nameOf(): string {
  const hash = createHash('sha256')
  for (const file of globSync(`${src}/{database/migrations/*,jobs/schema}.ts`).sort()) {
    hash.update(readFileSync(file))
  }
  return `chapar_template_${hash.digest('hex').slice(0, 12)}`
}

async function make({ client, url }: TestServer, name: string): Promise<void> {
  const draft = `${name}_new`
  await client.query(`drop database if exists ${draft} with (force)`)
  await client.query(`create database ${draft} template template0`)
  await migrate(url(draft))
  const { prepareSchema } = await import('../../src/jobs/backend.ts')
  await prepareSchema(url(draft))
  await client.query(`alter database ${draft} rename to ${name}`)
}

export async function ensureTemplate(server: TestServer): Promise<string> {
  const name = templateName()
  const { client } = server
  await client.query('select pg_advisory_lock($1)', [lockKey])
  try {
    const found = await client.query('select from pg_database where datname = $1', [name])
    if (found.rowCount === 0) await make(server, name)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockKey])
  }
  return name
}
