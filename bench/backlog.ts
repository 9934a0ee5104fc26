/** Paging through a million unread updates, against the pages of an almost empty log. */
import { Connection, get } from './support/connection.ts'
import { atMost, type Finding } from './support/finding.ts'
import { FIRST_UPDATE, seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, now, percentile } from './support/statistics.ts'

const BACKLOG = 1_000_000
const ALMOST_EMPTY = 200
const PAGE = 100
const WARM_UP = 50
const PAGES = 500

export async function backlog(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const [long = 0, short = 0] = await seedChatter(stage, userId, 2)
  const [longKey = '', shortKey = ''] = await seedKeys(stage, userId, [long, short])
  await seedUpdates(stage, long, BACKLOG)
  await seedUpdates(stage, short, ALMOST_EMPTY)
  // As autovacuum would leave it, a while after so many updates came.
  await stage.sql.query('vacuum analyze update_log')

  const service = await startService(stage)
  await service.ask('online', 2)
  // One for each key: a connection ends after a thousand requests.
  const connections = new Map<string, Connection>()
  for (const key of [longKey, shortKey]) connections.set(key, await Connection.open(service.port))
  const ask = async (key: string, method: string) => {
    const began = now()
    const body = await connections.get(key)?.request(get(`/bot${key}/${method}`))
    return { took: now() - began, body: `${body}` }
  }
  const page = async (key: string, offset: number) => {
    const { took, body } = await ask(key, `getUpdates?limit=${PAGE}&offset=${offset}`)
    const { result } = JSON.parse(body) as { result: { update_id: number }[] }
    if (result.length !== PAGE) throw new Error(`a page of ${result.length}`)
    return { took, next: (result.at(-1)?.update_id ?? 0) + 1 }
  }
  const times = { long: [] as number[], short: [] as number[] }
  let next = FIRST_UPDATE
  for (let count = 0; count < WARM_UP + PAGES; count++) {
    const ofLong = await page(longKey, next)
    // An offset that confirms nothing, each time another one: the same page again without being slowed down.
    const ofShort = await page(shortKey, count + 1)
    next = ofLong.next
    if (count < WARM_UP) continue
    times.long.push(ofLong.took)
    times.short.push(ofShort.took)
  }
  const first = await ask(longKey, 'getWebhookInfo')
  const later = await ask(longKey, 'getWebhookInfo')
  const pending = Number(/"pending_update_count":(\d+)/.exec(later.body)?.[1])
  if (pending !== FIRST_UPDATE + BACKLOG - next + PAGE) throw new Error(`${pending} are pending`)
  for (const connection of connections.values()) connection.close()
  await service.stop()

  const compared = (share: number) => {
    const [ours, bare] = [percentile(times.long, share), percentile(times.short, share)]
    return { ours: milliseconds(ours), bare: milliseconds(bare), ...atMost(ours, bare, 1.5) }
  }
  return [
    {
      what: `a page of ${PAGE} of ${BACKLOG} updates, p50 (bare: of ${ALMOST_EMPTY})`,
      ...compared(0.5),
    },
    { what: '  the same, p99', ...compared(0.99) },
    { what: '  pending_update_count, asked first', ours: milliseconds(first.took) },
    { what: '  pending_update_count, asked again', ours: milliseconds(later.took) },
  ]
}

export async function seedUpdates(
  { sql }: Stage,
  credentialId: number,
  count: number,
): Promise<void> {
  await sql.query(
    `insert into update_log (credential_id, update_id, source_key, kind, chat_id, payload)
     select $1, ${FIRST_UPDATE} + n, 'message:' || n, 0, 5001,
            '"message":{"message_id":' || n || ',"from":{"id":5001,"is_bot":false,"first_name":"Ada",'
            '"username":"ada_lovelace","language_code":"en"},"chat":{"id":5001,"username":"ada_lovelace",'
            '"first_name":"Ada","type":"private"},"date":1780000000,'
            '"text":"the quick brown fox jumps over the lazy dog"}'
       from generate_series(0, $2 - 1) as n`,
    [credentialId, count],
  )
  await sql.query(
    'update credential_log set next_update_id = next_update_id + $2 where credential_id = $1',
    [credentialId, count],
  )
}
