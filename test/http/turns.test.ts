/** Requests that keep the database busy: two of a user at once, and each user gets a turn. */
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { inTurn, piecesInTurn } from '../../src/http/management/owner.ts'
import { until } from '../support/client.ts'
import { bareServer } from './observability-rig.ts'

const app = bareServer(t)
const busy: { user: string; end(): void }[] = []
app.get<{ Params: { user: string }; Headers: { 'x-staff'?: string } }>(
  '/search/:user',
  {
    onRequest: async (request) => {
      const staff = request.headers['x-staff']
      const acting = staff === undefined ? undefined : { id: Number(staff) }
      Object.assign(request, { user: { id: Number(request.params.user), acting } })
    },
  },
  async (request, reply) =>
    inTurn(request, reply, async () => {
      const { user } = request.params
      const { promise, resolve } = Promise.withResolvers<void>()
      busy.push({ user, end: resolve })
      await promise
      return { ok: true }
    }),
)
const url = await app.listen({ port: 0 })
const ask = (user: number, signal?: AbortSignal) =>
  fetch(`${url}/search/${user}`, signal ? { signal } : {}).then(({ status }) => status)
const searching = () => busy.map(({ user }) => user).sort()
const endAll = async (asked: readonly Promise<number>[]) => {
  let isOver = false
  const all = Promise.all(asked).finally(() => {
    isOver = true
  })
  while (!isOver) {
    for (const { end } of busy.splice(0)) end()
    await tick()
  }
  return all
}

t.test('a user with many leaves places to others, and has to wait after fifty', async (t) => {
  let refused = 0
  const first = Array.from({ length: 60 }, async () => {
    const status = await ask(1)
    if (status === 429) refused++
    return status
  })
  await until(() => refused === 8)
  t.same(searching(), ['1', '1'])
  const other = ask(2)
  await until(() => busy.length === 3)
  t.same(searching(), ['1', '1', '2'])
  const answered = await endAll([...first, other])
  t.equal(answered.filter((status) => status === 200).length, 53)
  t.equal(refused, 8)
})

t.test('one of the staff takes no turn of the user whom they help', async (t) => {
  const helping = Array.from({ length: 3 }, () =>
    fetch(`${url}/search/1`, { headers: { 'x-staff': '9' } }).then(({ status }) => status),
  )
  await until(() => busy.length === 2)
  const own = [ask(1), ask(1)]
  await until(() => busy.length === 4)
  t.same(
    await endAll([...helping, ...own]),
    [...helping, ...own].map(() => 200),
  )
})

t.test('who leaves keeps the places of what is under way, and takes no other', async (t) => {
  const leaving = new AbortController()
  const left = Array.from({ length: 4 }, () => ask(1, leaving.signal).catch(() => 0))
  await until(() => busy.length === 2)
  leaving.abort()
  t.same(await Promise.all(left), [0, 0, 0, 0])
  const next = [ask(1), ask(1)]
  const other = ask(2)
  await until(() => busy.length === 3)
  t.same(searching(), ['1', '1', '2'])
  for (const { end } of busy.splice(0)) end()
  t.equal(await other, 200)
  await until(() => busy.length === 2)
  t.same(await endAll(next), [200, 200])
})

t.test('all users together have four places', async (t) => {
  const asked = [1, 2, 3].flatMap((user) => [ask(user), ask(user)])
  await until(() => busy.length === 4)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(busy.length, 4)
  t.same(
    await endAll(asked),
    asked.map(() => 200),
  )
})

t.test('each piece of a file waits for a turn, and keeps none between them', async (t) => {
  const request = { user: { id: 1 } } as Parameters<typeof inTurn>[0]
  const raw = Object.assign(new EventEmitter(), { destroyed: false, writableFinished: true })
  const reply = { raw } as unknown as { raw: ServerResponse }
  let made = 0
  let isClosed = false
  async function* pieces() {
    try {
      for (;;) yield `${++made}`
    } finally {
      isClosed = true
    }
  }
  const file = piecesInTurn(request, reply, pieces())
  t.match(await file.next(), { value: /^1$/ })
  const before = [ask(1), ask(1)]
  await until(() => busy.length === 2)
  const second = file.next()
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(made, 1)
  await endAll(before)
  t.match(await second, { value: /^2$/ })
  const many = Array.from({ length: 52 }, () => ask(1))
  await until(() => busy.length === 2)
  t.equal(await ask(1), 429, 'nobody else may wait')
  const third = file.next()
  await endAll(many)
  t.match(await third, { value: /^3$/ }, 'what has begun waits')
  t.same(await endAll([ask(1), ask(1)]), [200, 200], 'it keeps no place')
  await file.return(undefined)
  t.ok(isClosed)
})

t.test('one that was answered while it waited does no work', async (t) => {
  const before = [ask(1), ask(1)]
  await until(() => busy.length === 2)
  const request = { user: { id: 1 } } as Parameters<typeof inTurn>[0]
  const raw = Object.assign(new EventEmitter(), { destroyed: false, writableFinished: true })
  const reply = { raw, sent: false } as unknown as { raw: ServerResponse; sent: boolean }
  let isDone = false
  const waiting = inTurn(request, reply, async () => {
    isDone = true
  })
  const refused = t.rejects(waiting, { message: 'it was answered meanwhile' })
  reply.sent = true
  await endAll(before)
  await refused
  t.notOk(isDone)
  t.same(await endAll([ask(1), ask(1)]), [200, 200], 'its place is free again')
})
