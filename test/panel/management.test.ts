/** What the management API has for the panel, and for scripts: search, counts, changes of all accounts, machines. */
import t from 'tap'
import type { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const client = await service.client()
const stranger = await service.client()

const names = ['Ada', 'bela', 'Cyrus', 'Darya'] as const
const ids: Record<string, number> = {}
for (const [place, name] of names.entries()) {
  // A search by number looks through phones, too: these have no digit of another account's number.
  const phone = `+1650555${String([8, 80, 88, 800][place]).padStart(4, '0')}`
  const person = await client.person(name, `${name.toLowerCase()}_acc`, { phone })
  ids[name] = await client.link(person)
  if (name === 'bela') await client.result('PUT', `/sandbox/people/${person.id}/faults/revoke`, {})
}
const { bela = 0, Cyrus = 0 } = ids
await client.state(bela, 'logged_out')
const { reason } = await client.result('GET', `/platforms/credentials/${bela}`)

interface Item {
  readonly credential_id: number
  readonly account: { readonly first_name: string }
}

const list = async (query: string, who: Client = client): Promise<string[]> => {
  const { items } = await who.result('GET', `/platforms/credentials?${query}`)
  return items.map((item: Item) => item.account.first_name)
}

t.test('accounts are found by name, username, phone and number', async (t) => {
  t.same(await list('search=cyr'), ['Cyrus'])
  t.same(await list('search=DARYA_acc'), ['Darya'])
  t.same(await list('search=%40cyr'), ['Cyrus'], 'as the list shows a username')
  t.same(await list('search=%40acc'), [], 'it begins with the sign')
  t.same(await list(`search=${Cyrus}`), ['Cyrus'])
  t.same(await list('search=%25'), [], 'a percent sign is a percent sign')
  t.same(await list('search=ada', stranger), [])
})

t.test('accounts are filtered by state, action and platform', async (t) => {
  t.same(await list('state=logged_out,failed'), ['bela'])
  t.same(await list('action=link_again'), ['bela'])
  t.equal((await list('state=active&platform=sandbox')).length, 3)
  t.same(await list('platform=xmpp'), [])
})

t.test('accounts are found without their accents and digits of other scripts', async (t) => {
  const zoe = await client.person('Zoë', 'zoe_acc', { phone: '+16505550007' })
  const id = await client.link(zoe)
  t.same(await list('search=zoe'), ['Zoë'])
  t.same(await list(`search=${encodeURIComponent('ＺOË')}`), ['Zoë'])
  t.same(await list(`search=${encodeURIComponent('+۱۶۵۰۵۵۵۰۰۰۷')}`), ['Zoë'])
  t.same(await list(`search=${encodeURIComponent('٠٠٠٧')}`), ['Zoë'])
  await client.result('DELETE', `/platforms/credentials/${id}`)
})

t.test('accounts that are out for one reason are a group', async (t) => {
  t.same(await list(`reason=${reason}`), ['bela'])
  t.same(await list(`reason=banned,${reason}&action=link_again`), ['bela'])
  t.same(await list('reason=banned'), [])
})

t.test('the list is exported as CSV, oldest first', async (t) => {
  const exported = async (query: string, token = client.token) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${service.url}/platforms/credentials/export?${query}`, { headers })
    return { answer, text: await answer.text() }
  }
  const formula = await client.person('=HYPERLINK("x")', 'formula', { phone: '+16505550009' })
  const id = await client.link(formula)
  const { answer, text } = await exported('search=a')
  t.match(answer.headers.get('content-type'), 'text/csv')
  t.match(answer.headers.get('content-disposition'), 'attachment; filename="accounts.csv"')
  const [head, ...lines] = text.split('\r\n')
  t.equal(
    head,
    'credential_id,platform,first_name,last_name,username,phone,state,reason,action,online_since,last_event_at,created_at,latency_ms,node,tags',
  )
  t.equal(lines.pop(), '')
  t.equal(lines.length, 5)
  const start = `${bela},sandbox,bela,,bela_acc,+16505550080,logged_out,${reason},link_again,,`
  t.equal(lines[1]?.slice(0, start.length), start)
  t.match(lines[4], `${id},sandbox,"'=HYPERLINK(""x"")",,formula,+16505550009,active,`)
  t.equal((await exported('state=logged_out')).text.split('\r\n').length, 3)
  t.equal((await exported('', stranger.token)).text, `${head}\r\n`)
  t.match(await exported('reason=A'), { answer: { status: 400 }, text: /"ok":false/ })
  t.match(await exported('', 'x'), { answer: { status: 401 }, text: /"ok":false/ })
  await client.result('DELETE', `/platforms/credentials/${id}`)
})

t.test('accounts that are named are exported as CSV', async (t) => {
  const exported = async (body: object, token = client.token) => {
    const answer = await fetch(`${service.url}/platforms/credentials/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const named = { credential_ids: [bela, 999_999, bela] }
  const { status, text } = await exported(named)
  t.equal(status, 200)
  const [head, ...lines] = text.split('\r\n')
  t.equal(lines.length, 2, 'each once, and none that is not there')
  t.match(lines[0], `${bela},sandbox,bela,,bela_acc,+16505550080,logged_out,${reason},`)
  t.equal((await exported(named, stranger.token)).text, `${head}\r\n`)
  t.match(await exported(named, 'x'), { status: 401, text: /"ok":false/ })
  for (const body of [{}, { credential_ids: [] }, { credential_ids: ['x'] }]) {
    t.match(await exported(body), { status: 400, text: /"ok":false/ })
  }
})

t.test('groups count what passes the filters, and why accounts are out', async (t) => {
  const groups = (query: string) => client.result('GET', `/platforms/credentials/groups?${query}`)
  const by_reason = { [reason]: 1 }
  t.same(await groups(''), { matching: 4, by_reason, by_tag: {} })
  t.same(await groups(`reason=${reason}`), { matching: 1, by_reason, by_tag: {} })
  t.same(
    await groups('reason=banned'),
    { matching: 0, by_reason, by_tag: {} },
    'the others stay to be chosen',
  )
  t.same(await groups('state=active'), { matching: 3, by_reason: {}, by_tag: {} })
  t.same(await groups('search=BELA'), { matching: 1, by_reason, by_tag: {} })
  t.same(await groups('search=nobody'), { matching: 0, by_reason: {}, by_tag: {} })
  t.same(await stranger.result('GET', '/platforms/credentials/groups'), {
    matching: 0,
    by_reason: {},
    by_tag: {},
  })
  t.match(await client.ask('GET', '/platforms/credentials/groups?reason=A'), { status: 400 })
})

t.test('every order goes by pages without a gap or a repetition', async (t) => {
  const orders: Record<string, readonly string[]> = {
    'sort=created': ['Darya', 'Cyrus', 'bela', 'Ada'],
    'sort=name&order=asc': ['Ada', 'bela', 'Cyrus', 'Darya'],
    'sort=name': ['Darya', 'Cyrus', 'bela', 'Ada'],
    'sort=urgency': ['bela', 'Darya', 'Cyrus', 'Ada'],
    'sort=state': ['bela', 'Darya', 'Cyrus', 'Ada'],
  }
  for (const [order, expected] of Object.entries(orders)) {
    const seen: string[] = []
    let before: string | null = null
    do {
      const cursor: string = before === null ? '' : `&before=${before}`
      const page = await client.result('GET', `/platforms/credentials?limit=1&${order}${cursor}`)
      seen.push(...page.items.map((item: Item) => item.account.first_name))
      before = page.next_before
    } while (before !== null)
    t.same(seen, expected, order)
  }
})

t.test('a list sorted by names goes on after long ones, in any script', async (t) => {
  const long: number[] = []
  for (const [place, sign] of ['ع', '😀', '"'].entries()) {
    const [first_name, last_name] = [sign.repeat(64 / sign.length), sign.repeat(64 / sign.length)]
    const phone = `+165055577${20 + place}`
    long.push(await client.link(await client.person(first_name, undefined, { last_name, phone })))
  }
  for (const order of ['asc', 'desc']) {
    const seen: number[] = []
    let before: string | null = null
    do {
      const from: string = before === null ? '' : `&before=${before}`
      const query = `limit=1&sort=name&order=${order}${from}`
      const page = await client.result('GET', `/platforms/credentials?${query}`)
      seen.push(...page.items.map((item: Item) => item.credential_id))
      before = page.next_before
    } while (before !== null)
    t.equal(seen.length, 7, order)
    t.equal(new Set(seen).size, 7, order)
  }
  for (const id of long) await client.result('DELETE', `/platforms/credentials/${id}`)
})

const cursor = (...position: unknown[]) =>
  Buffer.from(JSON.stringify(position)).toString('base64url')

t.test('what is no search is refused', async (t) => {
  for (const query of [
    'sort=age',
    'order=up',
    'state=Active',
    `search=${'x'.repeat(101)}`,
    'before=x',
    'sort=name&before=x',
    `sort=name&before=${cursor(1, 2)}`,
    `sort=state&before=${cursor('\u0000', 2)}`,
    `sort=last_event&before=${cursor(1e300, 2)}`,
    `sort=last_event&before=${cursor(-1e300, 2)}`,
    `sort=last_event&before=${cursor(-230_000_000_000, 2)}`,
    `sort=last_event&before=${Buffer.from('[1e400,2]').toString('base64url')}`,
  ]) {
    const answer = await client.ask('GET', `/platforms/credentials?${query}`)
    t.match(answer, { status: 400, body: { ok: false, errors: [{}] } }, query)
  }
})

t.test('the summary counts by state', async (t) => {
  t.same(await client.result('GET', '/platforms/credentials/summary'), {
    total: 4,
    by_state: { active: 3, logged_out: 1 },
    by_platform: { sandbox: 4 },
    needing_action: 1,
    by_reason: { [reason]: 1 },
  })
  t.match(await stranger.result('GET', '/platforms/credentials/summary'), { total: 0 })
})

t.test('the changes of all accounts are told, to their owner alone', async (t) => {
  const read = async (who: Client) => {
    const response = await fetch(`${service.url}/platforms/credentials/events`, {
      headers: { authorization: `Bearer ${who.token}` },
    })
    t.match(response.headers.get('content-type'), /text\/event-stream/)
    return response.body!.pipeThrough(new TextDecoderStream()).getReader()
  }
  const own = await read(client)
  const foreign = await read(stranger)
  t.match((await own.read()).value, /^event: state\ndata: \{"total":4,/)
  t.match((await foreign.read()).value, /^event: state\ndata: \{"total":0,/)
  await client.ask('POST', `/platforms/credentials/${Cyrus}/restart`)
  const { value = '' } = await own.read()
  t.match(value, /^event: changes\n/)
  const changes = JSON.parse(/data: (.*)/.exec(value)?.[1] ?? '[]')
  t.match(changes, [{ credential_id: Cyrus, state: /active|connecting/, from: String, to: String }])
  await foreign.cancel()
  await own.cancel()
})

t.test('machines are told as they run', async (t) => {
  t.match(await client.result('GET', '/machines'), ['credential', 'api_key', 'link'])
  const chart = await client.result('GET', '/machines/credential')
  const state = (path: string) => chart.states.find((one: { path: string }) => one.path === path)
  t.match(state('live.online'), {
    parent: 'live',
    type: 'compound',
    initial: false,
    meta: { state: 'active', action: 'none' },
  })
  t.match(state('resuming'), { parent: null, initial: true })
  t.match(state('deactivated'), { type: 'final' })
  const has = (from: string | null, event: string, to: string) =>
    chart.transitions.some(
      (one: { from: string | null; event: string; to: string | null }) =>
        one.from === from && one.event === event && one.to === to,
    )
  t.ok(has('queued', 'turn.granted', 'live'))
  t.ok(has('waiting', 'after.backoff', 'queued'))
  t.ok(has(null, 'credential.restart', 'queued'))
  t.match(await client.ask('GET', '/machines/nothing'), { status: 404 })
})
