/** People, groups and channels over HTTP. */
import t from 'tap'
import { sandboxServer } from './sandbox-rig.ts'

t.test('a person is registered, found, renamed and listed', async (t) => {
  const { result } = await sandboxServer(t)
  const ada = await result('POST /sandbox/people', {
    phone: '+1 555 010-0001',
    first_name: 'Ada',
    username: 'ada_l',
    password: 'secret',
    password_hint: 'not a secret',
  })
  t.match(ada, {
    phone: /^\+15550100001$/,
    first_name: 'Ada',
    last_name: null,
    username: 'ada_l',
    has_password: true,
    deactivated: false,
    linked_sessions: 0,
    faults: {},
    created_at: /^\d{4}-.*Z$/,
  })
  t.ok(ada.id >= 1_000_000)
  t.notMatch(JSON.stringify(ada), 'secret')
  const renamed = await result(`PATCH /sandbox/people/${ada.id}`, { last_name: 'Lovelace' })
  t.match(renamed, { first_name: 'Ada', last_name: 'Lovelace', username: 'ada_l' })
  t.same(await result(`GET /sandbox/people/${ada.id}`), renamed)
  t.match(await result('GET /sandbox/people?limit=1'), { items: [{ id: ada.id }] })
})

t.test('many people are registered at once, or none of them', async (t) => {
  const { ask, result } = await sandboxServer(t)
  const people = Array.from({ length: 300 }, (_, index) => ({ first_name: `P${index}` }))
  const made = await result('POST /sandbox/people/bulk', { people })
  t.equal(made.length, 300)
  t.equal(new Set(made.map(({ phone }: { phone: string }) => phone)).size, 300)
  const twice = {
    people: [
      { first_name: 'A', username: 'same' },
      { first_name: 'B', username: 'SAME' },
    ],
  }
  const { status, body } = await ask('POST /sandbox/people/bulk', twice)
  t.equal(status, 409)
  t.equal(body.description, 'Conflict: the username is already taken')

  const page = await result('GET /sandbox/people?limit=200')
  const rest = await result(`GET /sandbox/people?limit=200&before=${page.next_before}`)
  t.equal(page.items.length + rest.items.length, 300, 'the sandbox itself is none of them')
  t.equal(rest.next_before, null)
})

t.test('what is wrong with a request is named', async (t) => {
  const { ask, person } = await sandboxServer(t)
  await person('Ada', { phone: '+15550100001', username: 'ada_l' })
  const refusals: [line: string, body: object | undefined, status: number, text: RegExp][] = [
    ['POST /sandbox/people', {}, 400, /field "first_name" is required/],
    ['POST /sandbox/people', { first_name: 'A', age: 3 }, 400, /field "age" is unknown/],
    ['POST /sandbox/people', { first_name: 'A', phone: '12' }, 400, /phone number/],
    ['POST /sandbox/people', { first_name: 'A', phone: '+15550100001' }, 409, /phone number is al/],
    ['POST /sandbox/people', { first_name: 'A', username: 'ADA_L' }, 409, /username is already/],
    ['GET /sandbox/people/5', undefined, 404, /Not Found/],
    ['GET /sandbox/people/x', undefined, 400, /field "person" must be an integer/],
    ['GET /sandbox/people?before=x', undefined, 400, /cursor/],
    ['PATCH /sandbox/people/5', { first_name: 'A' }, 404, /Not Found/],
    ['GET /sandbox/chats/-5', undefined, 404, /Not Found/],
    ['POST /sandbox/chats', { kind: 'private', title: 'x', owner: 1 }, 400, /field "kind"/],
    ['POST /sandbox/chats', { kind: 'group', title: 'x', owner: 1 }, 400, /user not found/],
  ]
  for (const [line, payload, status, text] of refusals) {
    const reply = await ask(line, payload)
    t.equal(reply.status, status, line)
    t.match(reply.body.description, text, line)
  }
})

t.test('nobody is let in unasked', async (t) => {
  const { ask } = await sandboxServer(t)
  for (const path of ['people', 'chats', 'people/777000/inbox', 'people/777000/faults']) {
    t.equal((await ask(`GET /sandbox/${path}`, undefined, '')).status, 401, path)
  }
})

t.test('groups and channels have ids of their form, and members who come and go', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bob, eve] = [await person('Ada'), await person('Bob'), await person('Eve')]
  const make = (kind: string, more: object = {}) =>
    result('POST /sandbox/chats', { kind, title: kind, owner: ada.id, members: [bob.id], ...more })
  const group = await make('group')
  const supergroup = await make('supergroup', { username: 'the_group' })
  const channel = await make('channel')
  t.ok(group.id < 0 && group.id > -1_000_000_000_000)
  for (const { id } of [supergroup, channel]) t.ok(id < -1_000_000_000_000)
  t.match(supergroup, {
    type: 'supergroup',
    username: 'the_group',
    members: [
      { person: { id: ada.id }, role: 'owner' },
      { person: { id: bob.id }, role: 'member' },
    ],
  })

  const joined = await result(`PUT /sandbox/chats/${group.id}/members/${eve.id}`)
  t.match(joined.members[2], { person: { id: eve.id }, role: 'member' })
  const write = (as: number) =>
    ask(`POST /sandbox/people/${as}/messages`, { to: group.id, text: 'hello' })
  t.equal((await write(eve.id)).status, 200)
  await result(`DELETE /sandbox/chats/${group.id}/members/${eve.id}`)
  t.match((await write(eve.id)).body, {
    error_code: 403,
    description: 'Forbidden: bot is not a member of the group chat',
  })
  await result(`DELETE /sandbox/chats/${group.id}/members/${eve.id}?kick=true`)
  t.equal((await write(eve.id)).body.description, 'Forbidden: bot was kicked from the group chat')
  const post = { to: channel.id, text: 'news' }
  const refused = await ask(`POST /sandbox/people/${bob.id}/messages`, post)
  t.equal(refused.body.description, 'Bad Request: need administrator rights in the channel chat')
  t.match(await result('GET /sandbox/chats?limit=1'), { items: [{ id: channel.id }] })
  t.match((await result(`GET /sandbox/people/${ada.id}/inbox?chat=${group.id}`)).messages, [
    { service: 'left' },
    { text: 'hello' },
    { service: 'joined' },
  ])
})
