/** GET /user/logs/api-requests. */
import t from 'tap'
import { requestRecord } from '../observability/journal-rig.ts'
import { observedServer } from './observability-rig.ts'

const path = '/user/logs/api-requests'

t.test('a user sees their own records, newest first, with all fields', async (t) => {
  const { journal, ask } = await observedServer(t)
  const at = Date.now()
  journal.record(requestRecord({ at: at - 1_000, requestId: 'older' }))
  journal.record(
    requestRecord({ at, requestId: 'newer', status: 400, errorCode: 400, description: 'no chat' }),
  )
  journal.record(requestRecord({ userId: 2, requestId: 'of another user' }))
  journal.record(requestRecord({ userId: null, requestId: 'of nobody' }))
  await journal.flush()
  const { status, body } = await ask(path)
  t.equal(status, 200)
  const [newer, older] = body.result.items
  t.equal(body.result.items.length, 2)
  t.equal(older.request_id, 'older')
  t.strictSame(newer, {
    id: newer.id,
    at: new Date(at).toISOString(),
    request_id: 'newer',
    api_key_id: 100_001,
    credential_id: 10,
    method: 'sendMessage',
    operation: 'send',
    status: 400,
    error_code: 400,
    description: 'no chat',
    duration_ms: 1.5,
    request_bytes: 10,
    response_bytes: 20,
    ip: '127.0.0.1',
    user_agent: 'test',
  })
})

t.test('pages join up without a gap, also within one millisecond and across days', async (t) => {
  const { journal, ask } = await observedServer(t)
  const now = Date.now()
  for (let i = 0; i < 25; i++) {
    journal.record(
      requestRecord({ at: i < 10 ? now - 24 * 3_600_000 : now, requestId: `request ${i}` }),
    )
  }
  await journal.flush()
  const seen: string[] = []
  let before = ''
  for (;;) {
    const { result } = (await ask(`${path}?limit=10${before}`)).body
    seen.push(...result.items.map((item: { request_id: string }) => item.request_id))
    if (result.next_before === null) break
    before = `&before=${result.next_before}`
  }
  t.strictSame(
    seen,
    Array.from({ length: 25 }, (_, i) => `request ${24 - i}`),
  )
})

t.test('filters narrow by key, credential and error', async (t) => {
  const { journal, ask } = await observedServer(t)
  journal.record(requestRecord({ requestId: 'a', apiKeyId: 1, credentialId: 1, errorCode: 400 }))
  journal.record(requestRecord({ requestId: 'b', apiKeyId: 2, credentialId: 1, errorCode: 403 }))
  journal.record(requestRecord({ requestId: 'c', apiKeyId: 2, credentialId: 2 }))
  await journal.flush()
  const ids = async (query: string) =>
    (await ask(`${path}?${query}`)).body.result.items.map(
      (item: { request_id: string }) => item.request_id,
    )
  t.strictSame(await ids('api_key_id=2'), ['c', 'b'])
  t.strictSame(await ids('credential_id=1'), ['b', 'a'])
  t.strictSame(await ids('error_code=403'), ['b'])
  t.strictSame(await ids('api_key_id=2&credential_id=2&error_code=403'), [])
})

t.test('a page is read off an index, day by day', async (t) => {
  const { journal, database } = await observedServer(t)
  const now = Date.now()
  for (let i = 0; i < 3_000; i++) {
    journal.record(requestRecord({ at: now - (i % 2) * 24 * 3_600_000, userId: i % 50 }))
  }
  await journal.flush()
  await database.query('analyze request_log')
  const plan = await database.query<{ 'QUERY PLAN': string }>(
    'explain select * from request_log where user_id = 7 order by at desc, id desc limit 10',
  )
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  t.match(text, /Index Scan/)
  t.match(text, /Presorted Key: .*at/, 'only rows of one millisecond are put in order')
  t.notMatch(text, /Seq Scan|Merge Append/)
})

t.test('without sign-in there is nothing to see', async (t) => {
  const { app } = await observedServer(t)
  const reply = await app.inject(path)
  t.equal(reply.statusCode, 401)
  t.strictSame(reply.json(), { ok: false, error_code: 401, description: 'Unauthorized' })
})

t.test('bad input is refused by name', async (t) => {
  const { ask } = await observedServer(t)
  const refused = {
    'limit=0': /field "limit"/,
    'limit=1001': /field "limit"/,
    'limit=x': /field "limit" must be an integer/,
    'limit=1e400': /field "limit" must be an integer/,
    'api_key_id=-1e400': /field "api_key_id" must be an integer/,
    'api_key_id=0': /field "api_key_id"/,
    'api_key_id=99999999999999999999': /field "api_key_id"/,
    'error_code=7': /field "error_code"/,
    'before=yesterday': /field "before" is not a cursor/,
    'before=1-99999999999999999999': /field "before" is not a cursor/,
  }
  for (const [query, description] of Object.entries(refused)) {
    const { status, body } = await ask(`${path}?${query}`)
    t.equal(status, 400, query)
    t.match(body.description, description)
  }
  t.equal((await ask(`${path}?before=999999999999999-999999999999999`)).status, 200)
})
