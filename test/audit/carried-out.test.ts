/** When the line of what an actor carries out is written: at once, whatever comes between it and the answer. */
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { carriedOut, changesNothing, noteUnnoted } from '../../src/http/changes.ts'

/** A request that changes something, and the actions of the lines that were written for it. */
function asked() {
  const lines: unknown[] = []
  const db = {
    async query(_: unknown, [, action]: readonly unknown[] = []) {
      lines.push(action)
      return []
    },
  }
  const change = { db, via: 'sign_in', action: 'account.restarted' }
  return { request: { change, audit: {} } as unknown as FastifyRequest, lines }
}

t.test('what was done is noted before anything else happens, and once', async (t) => {
  const { request, lines } = asked()
  t.equal(await carriedOut(request, Promise.resolve('done')), 'done')
  t.same(lines, ['account.restarted'])
  await noteUnnoted(request)
  t.equal(lines.length, 1)
})

t.test('what may have been done is noted, what was certainly not done is not', async (t) => {
  for (const [certain, count] of [
    [false, 1],
    [true, 0],
  ] as const) {
    const { request, lines } = asked()
    const cause = failed('timeout', 'no answer', certain ? {} : { certain: false })
    await t.rejects(carriedOut(request, Promise.reject(cause)), cause)
    t.equal(lines.length, count)
  }
  const { request, lines } = asked()
  changesNothing(request)
  await carriedOut(request, Promise.resolve())
  t.equal(lines.length, 0, 'nor what only looked')
})
