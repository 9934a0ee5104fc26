/** Each statement of what people of the sandbox do fails in turn: what is said not to be made is not, or may be repeated. */
import pg from 'pg'
import t from 'tap'
import type { Answer } from '../support/client.ts'
import { FailingStatements, sandboxCounter } from '../support/failing-statements.ts'
import { scene } from './scene.ts'

t.setTimeout(400_000)
const { service, client, ada, bot } = await scene(t, {})
const statements = new FailingStatements(t)
const database = new pg.Client({ connectionString: service.databaseUrl })
await database.connect()
t.teardown(() => database.end())

const count = await sandboxCounter(database)

const bob = await client.person('Bob', 'bob_of_the_group')
const group = await client.result('POST', '/sandbox/chats', {
  kind: 'supergroup',
  title: 'Group',
  owner: ada.id,
  members: [bot.id, bob.id],
})
const forum = await client.result('POST', '/sandbox/chats', {
  kind: 'supergroup',
  title: 'Forum',
  owner: ada.id,
  members: [bot.id],
  is_forum: true,
})
const own = (method: string, path: string, body?: unknown) => () =>
  client.ask(method, `/sandbox${path}`, body)
const by = `/people/${ada.id}`
let numbers = 0
const text = () => `text ${++numbers}`
const message = async () =>
  `${by}/chats/${group.id}/messages/${(await client.write(ada.id, group.id, text())).message_id}`

const topic = async () =>
  (await client.result('POST', `/sandbox${by}/chats/${forum.id}/topics`, { name: text() }))
    .message_thread_id

type Changes = Readonly<Record<string, () => Promise<() => Promise<Answer>>>>
const changes: Changes = {
  'a person': async () => own('POST', '/people', { first_name: text() }),
  'many people': async () =>
    own('POST', '/people/bulk', {
      people: [{ first_name: text() }, { first_name: text() }],
    }),
  'a chat': async () =>
    own('POST', '/chats', { kind: 'supergroup', title: text(), owner: ada.id, members: [] }),
  'a message': async () => own('POST', `${by}/messages`, { to: group.id, text: text() }),
  'a message passed on': async () => {
    const { message_id } = await client.write(ada.id, group.id, text())
    return own('POST', `${by}/forwards`, { from: group.id, message_id, to: bot.id })
  },
  'a bot of a person': async () =>
    own('POST', `${by}/managed_bots`, {
      manager: bot.id,
      first_name: 'Tea',
      username: `tea_${++numbers}_bot`,
    }),
  'a boost': async () => own('POST', `${by}/chats/${group.id}/boosts`, {}),
  'a community': async () => own('POST', `${by}/communities`, { name: text() }),
  'a deletion': async () => own('DELETE', await message()),
  'a topic': async () =>
    own('POST', `${by}/chats/${forum.id}/topics`, { name: text(), icon_color: 7322096 }),
}
/** What was done by one of these may be done once more. */
const repeatable: Changes = {
  'another name': async () => own('PATCH', by, { last_name: text() }),
  'an edit': async () => own('PATCH', await message(), { text: text() }),
  'a reaction': async () =>
    own('PUT', `${await message()}/reactions`, { reactions: [{ emoji: '👍' }] }),
  'a block': async () => own('PUT', `${by}/blocks/${bob.id}`),
  'the end of a block': async () => {
    await own('PUT', `${by}/blocks/${bob.id}`)()
    return own('DELETE', `${by}/blocks/${bob.id}`)
  },
  'a member': async () => {
    await own('DELETE', `/chats/${group.id}/members/${bob.id}`)()
    return own('PUT', `/chats/${group.id}/members/${bob.id}`, {})
  },
  'the end of a membership': async () => {
    await own('PUT', `/chats/${group.id}/members/${bob.id}`, {})()
    return own('DELETE', `/chats/${group.id}/members/${bob.id}`)
  },
  'another name of a topic': async () =>
    own('PATCH', `${by}/chats/${forum.id}/topics/${await topic()}`, { name: text() }),
  'the end of a topic': async () =>
    own('DELETE', `${by}/chats/${forum.id}/topics/${await topic()}`),
  'the end of a boost': async () => {
    const { boost_id } = await client.result('POST', `/sandbox${by}/chats/${group.id}/boosts`, {})
    return own('DELETE', `${by}/chats/${group.id}/boosts/${boost_id}`)
  },
  'a slow mode': async () =>
    own('PUT', `${by}/chats/${group.id}/slow_mode`, { seconds: ++numbers % 2 ? 10 : 0 }),
  'the end of a community': async () => {
    const { id } = await client.result('POST', `/sandbox${by}/communities`, { name: text() })
    return own('DELETE', `${by}/communities/${id}`)
  },
}

const sweep = (all: Changes, counting: { readonly count?: typeof count }) => {
  for (const [name, begin] of Object.entries(all)) {
    t.test(name, async (t) =>
      t.same(await statements.sweep({ name, begin, ...counting, isCostly: true }), []),
    )
  }
}
sweep(changes, { count })
sweep(repeatable, {})

t.test('statements failed', async (t) => t.ok(statements.runs > 80, `${statements.runs} runs`))
