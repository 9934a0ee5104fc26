/** The network of each user has room for so many people, chats and messages. */
import t from 'tap'
import { picture } from '../service/files.ts'
import { sandboxServer } from './sandbox-rig.ts'

const full = (what: `${number} ${string}`) => ({
  status: 400,
  body: {
    ok: false,
    error_code: 400,
    description: `Bad Request: the sandbox has room for ${what} of each user`,
    code: `${what.split(' ')[1]}_full`,
    params: { count: Number.parseInt(what, 10) },
  },
})

t.test('people are bounded, also those registered at once and at the same moment', async (t) => {
  const { ask, result, db } = await sandboxServer(t, { people: 5, chats: 5, messages: 100 })
  const people = [{ first_name: 'A' }, { first_name: 'B' }]
  await result('POST /sandbox/people/bulk', { people })
  t.strictSame(
    await ask('POST /sandbox/people/bulk', { people: [...people, ...people] }),
    full('5 people'),
  )
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => ask('POST /sandbox/people', { first_name: 'C' })),
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 3)
  t.strictSame(
    answers.find(({ status }) => status !== 200),
    full('5 people'),
  )
  t.strictSame(await db.query('select count(*)::int from sandbox_person where id > 777000'), [
    { count: 5 },
  ])
})

t.test('groups and channels are bounded, also those made at the same moment', async (t) => {
  const { ask, person, result } = await sandboxServer(t, { people: 5, chats: 2, messages: 100 })
  const { id: owner } = await person('Ada')
  const make = () => ask('POST /sandbox/chats', { kind: 'group', title: 'Group', owner })
  const answers = await Promise.all(Array.from({ length: 6 }, make))
  t.equal(answers.filter(({ status }) => status === 200).length, 2)
  t.strictSame(await make(), full('2 chats'))
  t.equal((await result('GET /sandbox/chats')).items.length, 2)
})

t.test('messages are bounded, and what removes or changes them is not', async (t) => {
  const limits = { people: 5, chats: 5, messages: 12 }
  const { ask, person, result, db } = await sandboxServer(t, limits)
  const [ada, eve] = [await person('Ada'), await person('Eve')]
  const to = `/sandbox/people/${ada.id}`
  const write = (text: string) => ask(`POST ${to}/messages`, { to: eve.id, text })
  for (let n = 1; n <= 12; n++) t.equal((await write(`${n}`)).status, 200, `message ${n}`)
  t.strictSame(await write('one too many'), full('12 messages'))
  const copied = { to: eve.id, from: eve.id, message_id: 1 }
  t.strictSame(await ask(`POST ${to}/forwards`, copied), full('12 messages'))
  const first = `${to}/chats/${eve.id}/messages/1`
  t.match(await result(`PATCH ${first}`, { text: 'changed' }), { text: 'changed' })
  t.equal(await result(`PUT ${first}/reactions`, { reactions: [{ emoji: '👍' }] }), true)
  t.equal(await result(`DELETE ${first}`), true)
  t.strictSame(await db.query('select count(*)::int from sandbox_message'), [{ count: 12 }])
})

t.test('messages sent at the same moment do not exceed the room together', async (t) => {
  const { ask, person, db } = await sandboxServer(t, { people: 5, chats: 5, messages: 30 })
  const [ada, eve] = [await person('Ada'), await person('Eve')]
  const write = () =>
    ask(`POST /sandbox/people/${ada.id}/messages`, { to: eve.id, text: 'at once' })
  const answers = await Promise.all(Array.from({ length: 80 }, write))
  const sent = answers.filter(({ status }) => status === 200).length
  t.ok(sent >= 20 && sent <= 30, `${sent} of 80 were sent`)
  t.strictSame(await db.query('select count(*)::int from sandbox_message'), [{ count: sent }])
  t.strictSame(
    answers.find(({ status }) => status !== 200),
    full('30 messages'),
  )
})

t.test('the room of one user is nothing to another', async (t) => {
  const { sandbox, db, person, ask } = await sandboxServer(t, { people: 1, chats: 1, messages: 1 })
  await person('Ada')
  t.equal((await ask('POST /sandbox/people', { first_name: 'Eve' })).status, 400)
  const [other] = await db.query<{ id: number }>(
    `insert into app_user (phone_index, phone_sealed) values ('\\x07', '') returning id`,
  )
  const [made] = await sandbox.network(other!.id).people.create([{ first_name: 'Zoe' }])
  t.equal(made!.first_name, 'Zoe')
})

t.test('gifts on offer take room, too', async (t) => {
  const { ask } = await sandboxServer(t, { people: 5, chats: 5, messages: 3 })
  const sticker = { data: (await picture(200, 200)).toString('base64') }
  const offer = () => ask('POST /sandbox/gifts', { sticker, star_count: 100 })
  for (let n = 1; n <= 3; n++) t.equal((await offer()).status, 200, `gift ${n}`)
  t.strictSame(await offer(), full('3 messages'))
})
