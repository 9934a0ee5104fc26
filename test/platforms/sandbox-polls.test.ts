/** Polls whose time is over before anybody sees them. */
import t from 'tap'
import type { Poll } from '../../machines/model/poll.ts'
import type { Database } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { perform } from './contract/scene.ts'
import { ownedSandbox } from './sandbox/owned.ts'
import { stage } from './sandbox/stage.ts'

const text = (words: string) => ({ text: words, entities: [] })
const poll: Poll = {
  question: text('Late?'),
  options: [{ text: text('Yes'), voters: 0 }],
  voters: 0,
  isClosed: false,
  isAnonymous: false,
  isQuiz: false,
  isMultiple: false,
  openSeconds: 1,
}

t.test('a poll that ends while it is being sent is closed where it is seen', async (t) => {
  const { db, media, owner, link, open, register } = await stage(t)
  const sending = Promise.withResolvers<void>()
  const slow: Database = {
    ...db,
    query: async (statement, values) => {
      const isSending = typeof statement !== 'string' && statement.name === 'sandbox_send'
      if (isSending) await sending.promise
      return db.query(statement, values)
    },
  }
  const sandbox = ownedSandbox({ db: slow, logger: quietLogger, media }, owner)
  t.teardown(() => sandbox.close())
  const [person, friend] = [await register(), await register()]
  const session = await open(await link(person), sandbox.platform)
  const content = { kind: 'poll', poll } as const
  const sent = perform(session, { kind: 'send', chat: `${friend.id}`, content })
  const isOver = `select from sandbox_poll where closes_at < now() - interval '0.5 s'`
  await until(async () => (await db.query(isOver)).length > 0)
  sending.resolve()
  t.match(await sent, { message: { content: { poll: { isClosed: false } } } })
  await until(async () => {
    const [seen] = await sandbox.inboxes.messages(friend.id, { chat: person.id, limit: 1 })
    return seen?.content.kind === 'poll' && seen.content.poll.isClosed
  })
})
