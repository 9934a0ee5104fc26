/** Whose change it is: what goes on after a request, in the timers that it began, is not its author's. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { noteChange } from '../../src/audit/log.ts'
import type { Queryable } from '../../src/database/database.ts'
import { noteChanges } from '../../src/http/changes.ts'
import { until } from '../support/client.ts'
import { bareServer } from './observability-rig.ts'

t.test('a timer of a request notes nothing in the name of its user', async (t) => {
  const noted: unknown[] = []
  const db = {
    async query(_: unknown, values: readonly unknown[] = []) {
      noted.push({ userId: values[0], action: values[1], targetId: values[9] })
      return []
    },
  } as unknown as Queryable
  const app = bareServer(t)
  app.addHook('onRequest', async (request) => {
    Object.assign(request, { audit: { ip: '192.0.2.1' } })
  })
  noteChanges(app, db)
  let later = 0
  const note = (place: string) => noteChange(db, { target: ['view', place] })
  app.post('/user/views', {
    onRequest: async (request) => {
      Object.assign(request, { user: { id: 7, via: 'jwt' } })
    },
    async handler() {
      setTimeout(() => {
        void note('later').then(() => later++)
      }, 50)
      await pause(5)
      await note('meanwhile')
      return { ok: true }
    },
  })
  app.delete('/user/views/:id', async () => {
    setTimeout(() => {
      void note('later').then(() => later++)
    }, 50)
    throw new Error('it went wrong')
  })
  const url = await app.listen({ port: 0 })
  await fetch(`${url}/user/views`, { method: 'POST' })
  await fetch(`${url}/user/views/1`, { method: 'DELETE' })
  await until(() => later === 2)
  t.same(noted, [{ userId: 7, action: 'view.saved', targetId: 'meanwhile' }])
})
