/** What happens to an account of Telegram while its database cannot write for a moment. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { PeersIndex } from '@mtcute/node'
import t, { type Test } from 'tap'
import { failed } from '../../machines/model/failure.ts'
import type { Queryable } from '../../src/database/database.ts'
import { Intake } from '../../src/platforms/telegram/intake.ts'
import { OpinionReader } from '../../src/platforms/telegram/reading/opinions.ts'
import { KnownPolls } from '../../src/platforms/telegram/reading/polls.ts'
import { locationWrites, MessageLocations } from '../../src/platforms/telegram/storage/locations.ts'
import { UpdateState } from '../../src/platforms/telegram/storage/update-state.ts'
import { until } from '../support/client.ts'
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
  return { stage, next, database, db, logger, warned }
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
  'a sent message waits for no place, which is written once the database takes it',
  async (t) => {
    const { stage, next, database, db, logger, warned } = await flaky(t, 'telegram_message')
    const { person, friend, store, open, write } = await live(t, stage, { db, logger })
    const session = await open()
    write('hello')
    await store.message('hello')
    next.failures = Number.POSITIVE_INFINITY
    const sent = await perform(session, sending(`${friend.id}`, 'once'))
    t.match(sent, { kind: 'message', message: { content: { text: 'once' } } })
    const native = sent.kind === 'message' ? sent.message.native : ''
    const known = () =>
      database.query('select from telegram_message where message_id = $1', [Number(native)])
    await until(() => warned.includes('places of sent messages could not be written'))
    t.strictSame(await known(), [])
    next.failures = 0
    await until(async () => (await known()).length === 1)
    stage.network.delivery.delete(person, [Number(native)])
    const deleted = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
    t.hasStrict(deleted, { chat: `${friend.id}`, messages: [native] })
  },
)

t.test('a checkpoint waits for the places of what the account has sent', async (t) => {
  const steps: string[] = []
  const db: Queryable = {
    async query() {
      await endOfTurn()
      steps.push('places')
      return []
    },
  }
  const defects: unknown[] = []
  const failed = (cause: unknown) => void defects.push(cause)
  const account = { credentialId: 1, epoch: 0 }
  const writes = locationWrites(db, quietLogger)
  const locations = new MessageLocations(account, { db, locationWrites: writes, unnoted: failed })
  const intake = new Intake({
    self: '1',
    opinions: new OpinionReader(() => 0),
    polls: new KnownPolls(),
    state: new UpdateState({ pts: 2, qts: 0, date: 1, seq: 1 }),
    locations,
    report: { events: async () => void steps.push('checkpoint') },
    known: async () => new PeersIndex(),
    failed,
  })
  locations.note([{ message: 1, chat: 2 }])
  intake.add([])
  await intake.close()
  t.strictSame(steps, ['places', 'checkpoint'])
  locations.note([{ message: 2, chat: 2 }])
  await intake.close()
  t.strictSame(steps, ['places', 'checkpoint', 'places'], 'the last ones, too')
  t.strictSame(defects, [])
})

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
