/** What happens to an account of Telegram while its database cannot write for a moment. */
import t, { type Test } from 'tap'
import { failed } from '../../machines/model/failure.ts'
import type { Queryable } from '../../src/database/database.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { patience } from './contract/recorder.ts'
import { perform, sending } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

/** A database that fails so often to write into this table. */
async function flaky(t: Test, table: string) {
  const stage = await Stage.start(t)
  const { database } = await testDatabase(t)
  const next = { failures: 0 }
  const db: Queryable = {
    query: (statement, values) => {
      const { text } = typeof statement === 'string' ? { text: statement } : statement
      if (next.failures > 0 && text.includes(`insert into ${table}`)) {
        next.failures -= 1
        return Promise.reject(new Error('the connection is gone'))
      }
      return database.query(statement, values)
    },
  }
  const warned: unknown[] = []
  const logger = { ...quietLogger, warn: (_: object, text: string) => warned.push(text) }
  return { stage, next, db, logger, warned }
}

t.test('messages are told although whom they speak of could not be written down', async (t) => {
  const { stage, next, db, logger, warned } = await flaky(t, 'telegram_peer')
  const { person, store, open, write } = await live(t, stage, { db, logger })
  const first = await open()
  await first.session.probe(patience())
  write('before')
  await store.message('before')
  next.failures = 1
  const stranger = stage.network.person()
  stage.network.delivery.send(stranger, person, { message: 'from a stranger' })
  await store.message('from a stranger')
  t.strictSame(warned, ['a part of the session failed'])
  // Written with the next news: another session may name them.
  write('after')
  await store.message('after')
  await first.stop()
  await perform(await open(), sending(`${stranger.id}`, 'hello'))
})

t.test(
  'a message that was sent is sent although its place could not be written down',
  async (t) => {
    const { stage, next, db, logger, warned } = await flaky(t, 'telegram_message')
    const { friend, store, open, write } = await live(t, stage, { db, logger })
    const session = await open()
    write('hello')
    await store.message('hello')
    next.failures = 1
    const sent = await perform(session, sending(`${friend.id}`, 'once'))
    t.match(sent, { kind: 'message', message: { content: { text: 'once' } } })
    t.equal(next.failures, 0)
    t.strictSame(warned, ['a part of the session failed'])
  },
)

t.test(
  'a request learns that the database is away, and an outcome is told all the same',
  async (t) => {
    const stage = await Stage.start(t)
    const { network } = stage
    const { database } = await testDatabase(t)
    const away = new Set<unknown>()
    const db: Queryable = {
      query: (statement, values) =>
        `${statement}`.includes('from telegram_peer') && away.has(values?.[1])
          ? Promise.reject(failed('unavailable', 'away', { retryAfterSeconds: 1 }))
          : database.query(statement, values),
    }
    const { person, friend, store, listen } = await live(t, stage, { db })
    const channel = network.channel(friend, [])
    const direct = network.directMessages(channel, [person])
    const session = await listen()
    // So many others that the account itself is remembered by the database alone.
    for (let i = 0; i < 60; i++) network.person()
    network.delivery.send(friend, direct, { message: 'hello' })
    await store.message('hello')
    person.isAnsweredShortly = true
    away.add(person.id)
    const sent = await perform(session, sending(`${friend.id}`, 'once'))
    t.match(sent, { kind: 'message', message: { content: { text: 'once' } } })
    away.add(Number(nativeOfPlace(channel)))
    const asked = perform(session, { kind: 'describe', chat: nativeOfPlace(direct) })
    t.match(await asked.catch((cause) => cause), {
      failure: { code: 'unavailable', retryAfterSeconds: 1 },
    })
  },
)
