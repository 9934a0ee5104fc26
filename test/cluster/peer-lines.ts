/** A line to each node that the others use: what they read as its address is that of a relay. */
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { quietLogger } from '../support/logger.ts'
import { Relay } from '../support/relay.ts'
import type { Testing } from './stage.ts'

/** To be called before any node starts. Resolves with the lines by the names of the nodes. */
export async function openPeerLines(
  t: Testing,
  databaseUrl: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, Relay>> {
  await migrate(databaseUrl)
  const database = openDatabase({ url: databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  await database.query(
    'create table test_peer_line (name text primary key, line int not null, port int)',
  )
  await database.query(`create function test_lead_over_line() returns trigger language plpgsql as $$
    begin
      update test_peer_line set port = substring(new.address from '[0-9]+$')::int where name = new.name;
      new.address := 'https://127.0.0.1:' || (select line from test_peer_line where name = new.name);
      return new;
    end $$`)
  await database.query(`create trigger test_lead_over_line before insert on node
    for each row execute function test_lead_over_line()`)
  const lines = new Map<string, Relay>()
  const ports = new Map<string, number>()
  for (const name of names) {
    const line = await Relay.start(() => ports.get(name) ?? 0)
    t.teardown(() => line.stop())
    lines.set(name, line)
    await database.query('insert into test_peer_line (name, line) values ($1, $2)', [
      name,
      line.port,
    ])
  }
  // A node that starts again listens elsewhere.
  const look = async () => {
    const rows = await database.query<{ name: string; port: number }>(
      'select name, port from test_peer_line where port is not null',
    )
    for (const { name, port } of rows) ports.set(name, port)
  }
  const timer = setInterval(() => void look().catch(() => undefined), 100)
  t.teardown(() => clearInterval(timer))
  return lines
}
