/** Saved views of the list of accounts: made, listed, deleted, and of their user alone. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { refused } from '../service/scene.ts'
import { quietLogger } from '../support/logger.ts'
import { joinService } from '../support/shared-service.ts'

const service = await joinService(t)
const client = await service.client()
const stranger = await service.client()
const view = { name: ' Ada, signed out ', query: { search: 'ada', reason: 'session_revoked' } }

t.test('a view is kept as it was, for its user alone', async (t) => {
  const saved = await client.result('POST', '/user/views', view)
  t.match(saved, { name: 'Ada, signed out', query: view.query })
  const other = await client.result('POST', '/user/views', { name: 'All', query: {} })
  t.same(await client.result('GET', '/user/views'), [saved, other])
  t.same(await stranger.result('GET', '/user/views'), [])
  const path = `/user/views/${saved.view_id}`
  t.match(await stranger.ask('DELETE', path), refused(404, 'Not Found'))
  t.equal(await client.result('DELETE', path), true)
  t.match(await client.ask('DELETE', path), refused(404, 'Not Found'))
  t.same(await client.result('GET', '/user/views'), [other])
})

t.test('what is searched is not readable in the database', async (t) => {
  await client.result('POST', '/user/views', view)
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const rows = await db.query<{ text: string }>(
    `select encode(sealed, 'escape') as text from saved_view`,
  )
  t.ok(rows.length > 0 && rows.every(({ text }) => !text.includes('ada')))
})

t.test('what is no view is refused, and one too many', async (t) => {
  for (const body of [
    {},
    { ...view, name: '  ' },
    { name: 'x', query: { colour: 'red' } },
    { name: 'x', query: { search: 'x'.repeat(101) } },
  ]) {
    t.match(await client.ask('POST', '/user/views', body), { status: 400, body: { ok: false } })
  }
  for (let count = 0; count < 50; count++) {
    await stranger.result('POST', '/user/views', { name: `${count}`, query: {} })
  }
  t.match(
    await stranger.ask('POST', '/user/views', view),
    refused(409, 'Conflict: there are 50 views already'),
  )
})
