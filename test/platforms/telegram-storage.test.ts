/** What happens to an account of Telegram while its database cannot write for a moment. */
import t from 'tap'
import type { Queryable } from '../../src/database/database.ts'
import { testDatabase } from '../support/database.ts'
import { patience } from './contract/recorder.ts'
import { perform, sending } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('messages are told although whom they speak of could not be written down', async (t) => {
  const stage = await Stage.start(t)
  const { database } = await testDatabase(t)
  let failures = 0
  const db: Queryable = {
    query: (statement, values) => {
      if (failures > 0 && `${statement}`.includes('insert into telegram_peer')) {
        failures -= 1
        return Promise.reject(new Error('the connection is gone'))
      }
      return database.query(statement, values)
    },
  }
  const warned: unknown[] = []
  const log = { info: () => undefined, warn: (_: object, text: string) => warned.push(text) }
  const { person, store, open, write } = await live(t, stage, { db, log })
  const first = await open()
  await first.session.probe(patience())
  write('before')
  await store.message('before')
  failures = 1
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
