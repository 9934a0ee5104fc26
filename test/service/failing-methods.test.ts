/** Each statement of each method of the bot API fails in turn: nobody is told that nothing was done when something was. */
import pg from 'pg'
import t from 'tap'
import { rowsOf } from '../probe/methods.ts'
import { FailingStatements, sandboxCounter } from '../support/failing-statements.ts'
import { methodStage } from './method-stage.ts'

t.setTimeout(400_000)
const stage = await methodStage(t)
const { call, chat_id, kim, joe } = stage
const statements = new FailingStatements(t)
const database = new pg.Client({ connectionString: stage.databaseUrl })
await database.connect()
t.teardown(() => database.end())

const count = await sandboxCounter(database)

/** What the row of a method sets only once. */
const again: Readonly<Record<string, () => Promise<unknown>>> = {
  setChatDescription: () =>
    call('setChatDescription', { chat_id, description: crypto.randomUUID() }),
  approveChatJoinRequest: () =>
    Promise.all([kim, joe].map(({ id }) => call('unbanChatMember', { chat_id, user_id: id }))),
}

for (const [method, [, given = {}]] of Object.entries(rowsOf(stage))) {
  // It ends the stay in the chat that the others need.
  if (method === 'leaveChat') continue
  const begin = async () => {
    await again[method]?.()
    const parameters = typeof given === 'function' ? await given() : given
    return () => call(method, parameters)
  }
  t.test(method, async (t) =>
    t.same(await statements.sweep({ name: method, begin, count, isCostly: true }), []),
  )
}

t.test('statements failed', async (t) => t.ok(statements.runs > 500, `${statements.runs} runs`))
