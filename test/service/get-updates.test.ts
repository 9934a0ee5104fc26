/** getUpdates over HTTP: limits, offsets, waiting, conflicts and brakes. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, credentialId } = await scene(t, {})

interface Update {
  readonly update_id: number
  readonly message: { readonly text: string }
}

/** A key of its own for every test: what it has not read yet begins here. */
async function poller() {
  const { key, api_key_id } = await client.key(credentialId)
  const ask = (parameters: object = {}) => client.bot(key, 'getUpdates', parameters)
  return {
    key: key as string,
    ask,
    record: () => client.result('GET', `/api_keys/${api_key_id}`),
    updates: async (parameters?: object): Promise<Update[]> => (await ask(parameters)).body.result,
    texts: async (parameters?: object): Promise<string[]> =>
      ((await ask(parameters)).body.result as Update[]).map(({ message }) => message.text),
  }
}

/** Resolves once the log has them: another key has read them. */
async function arrived(...texts: string[]) {
  const { updates } = await poller()
  for (const text of texts) await client.write(ada.id, '@gatebot', text)
  const read: Update[] = []
  while (read.length < texts.length) {
    read.push(...(await updates({ timeout: 10, offset: (read.at(-1)?.update_id ?? 0) + 1 })))
  }
  return read
}

const conflict = refused(
  409,
  'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
)

t.test('a limit out of range is moved into it', async (t) => {
  const { texts } = await poller()
  await arrived('a', 'b', 'c')
  t.same(await texts({ limit: 0 }), ['a'])
  t.same(await texts({ limit: -7, offset: 1 }), ['a'])
  t.same(await texts({ limit: 500, offset: 2 }), ['a', 'b', 'c'])
  t.same(await texts({ limit: 2, offset: 3, timeout: -4 }), ['a', 'b'])
  t.same(await texts({ limit: 'two', offset: 4, timeout: 'long' }), ['a'])
})

t.test('an offset confirms what is below it, once and for all', async (t) => {
  const { texts, record } = await poller()
  const [first, second, third] = (await arrived('a', 'b', 'c')).map(({ update_id }) => update_id)
  t.equal(third! - first!, 2, 'ids are contiguous')
  t.same(await texts({ offset: second }), ['b', 'c'])
  t.same(await texts(), ['b', 'c'], 'what was confirmed does not come back')
  t.same(await texts({ offset: first }), ['b', 'c'])
  t.match(await record(), { cursor: first, pending_update_count: 2, receive_mode: 'polling' })
  t.same(await texts({ offset: third! + 1 }), [])
  t.match(await record(), { cursor: third, pending_update_count: 0 })
})

t.test('a negative offset keeps the newest and forgets the others', async (t) => {
  const { texts } = await poller()
  await arrived('a', 'b', 'c')
  t.same(await texts({ offset: -50 }), ['a', 'b', 'c'], 'more than there are forgets none')
  t.same(await texts({ offset: -2 }), ['b', 'c'])
  t.same(await texts(), ['b', 'c'])
  t.same(await texts({ offset: -1 }), ['c'])
  t.same(await texts({ offset: 1 }), ['c'])
})

t.test('an offset far from everything confirms nothing', async (t) => {
  const { texts } = await poller()
  const last = (await arrived('a', 'b')).at(-1)!.update_id
  t.same(await texts({ offset: last + 12 }), ['a', 'b'], 'more than ten beyond the next id')
  t.same(await texts({ offset: 2_147_483_647 }), ['a', 'b'])
  t.same(await texts({ offset: 1 }), ['a', 'b'], 'far below, as libraries begin')
  t.same(await texts({ offset: last + 11 }), [], 'ten beyond the next id is believed')
  t.same(await texts(), [])
  await arrived('c')
  t.same(await texts({ offset: 2 }), ['c'], 'the next update is not skipped')
})

t.test('a waiting poll ends with the first update, or empty after its timeout', async (t) => {
  const { updates, texts } = await poller()
  const began = performance.now()
  t.same(await updates({ timeout: 1 }), [])
  const waited = performance.now() - began
  t.ok(waited > 950 && waited < 3_000, `${waited} ms`)

  const waiting = texts({ timeout: 20, offset: 1 })
  await client.write(ada.id, '@gatebot', 'at last')
  t.same(await waiting, ['at last'])
})

t.test('a burst leaves in few answers, in order, without gaps', async (t) => {
  const { updates } = await poller()
  const texts = Array.from({ length: 30 }, (_, n) => `burst ${n}`)
  const written = Promise.all(texts.map((text) => client.write(ada.id, '@gatebot', text)))
  const pages: Update[][] = []
  while (pages.flat().length < texts.length) {
    const offset = (pages.at(-1)?.at(-1)?.update_id ?? 0) + 1
    pages.push(await updates({ timeout: 10, offset }))
  }
  await written
  const read = pages.flat()
  t.same(read.map(({ message }) => message.text).sort(), [...texts].sort())
  t.same(
    read.map(({ update_id }) => update_id),
    read.map((_, n) => read[0]!.update_id + n),
  )
  t.ok(pages.length < texts.length / 2, `${pages.length} answers`)
})

t.test('the older waiting poll gets the conflict, later ones at a slower pace', async (t) => {
  const { ask, key } = await poller()
  const first = ask({ timeout: 20, offset: 1 })
  await isWaiting(key)
  const began = performance.now()
  const second = ask({ timeout: 20, offset: 2 })
  t.match(await first, conflict)
  t.ok(performance.now() - began < 1_000, 'the first conflict is told at once')
  const third = ask({ timeout: 20, offset: 3 })
  t.match(await second, conflict)
  const held = performance.now() - began
  t.ok(held > 2_500 && held < 5_000, `the next one is held back for ${held} ms`)
  await client.write(ada.id, '@gatebot', 'for the newest')
  t.match(await third, { status: 200, body: { result: [{ message: { text: 'for the newest' } }] } })
})

t.test('a poll that has something to return disturbs nobody', async (t) => {
  const { ask, key } = await poller()
  const waiting = ask({ timeout: 2, offset: 1 })
  await isWaiting(key)
  t.match(
    await ask({ offset: 2 }),
    { status: 200, body: { result: { length: 0 } } },
    'nor does a short one',
  )
  t.match(await waiting, { status: 200, body: { result: { length: 0 } } })
})

t.test('short polling of one offset is braked', async (t) => {
  const { texts } = await poller()
  await arrived('a', 'b')
  /** Whether the second call was early enough to be braked at all. */
  const brakes = async () => {
    await pause(600)
    const began = performance.now()
    t.same(await texts({ offset: 5 }), ['a', 'b'])
    const second = await texts({ offset: 5 })
    if (performance.now() - began > 500) return false
    t.same(second, ['a'], 'within half a second one update at a time')
    return true
  }
  while (!(await brakes()));
  await pause(600)
  t.same(await texts({ offset: 5 }), ['a', 'b'])

  const empty = await poller()
  t.same(await empty.texts(), [])
  const began = performance.now()
  t.same(await empty.texts(), [])
  t.ok(performance.now() - began > 2_500, 'an empty answer is held for three seconds')
})

t.test('who asks again and again without an offset is shown what came meanwhile', async (t) => {
  const { texts } = await poller()
  await arrived('a')
  let isWritten: Promise<unknown> | undefined
  const pages: string[][] = []
  // Without a pause of half a second between two polls, in which the brake would be over.
  while (pages.length < 200 && !pages.at(-1)?.includes('b')) {
    pages.push(await texts())
    isWritten ??= client.write(ada.id, '@gatebot', 'b')
    await pause(10)
  }
  await isWritten
  t.same(pages.at(-1), ['a', 'b'], `after ${pages.length} polls`)
})

t.test('a client that goes away leaves no conflict, and nothing is lost', async (t) => {
  const { key, texts } = await poller()
  const leaving = new AbortController()
  const poll = fetch(`${service.url}/bot${key}/getUpdates?timeout=50&offset=7`, leaving)
  await isWaiting(key)
  leaving.abort()
  await t.rejects(poll)
  await until(() => !waits(key))
  const next = texts({ timeout: 20, offset: 8 })
  await client.write(ada.id, '@gatebot', 'still here')
  t.same(await next, ['still here'])
})

t.test('a restart ends waiting polls empty and keeps the cursors', async (t) => {
  const { ask, key, texts } = await poller()
  const [first] = await arrived('a', 'b')
  t.same(await texts({ offset: first!.update_id + 1 }), ['b'])
  const waiting = ask({ timeout: 20, offset: first!.update_id + 2 })
  await isWaiting(key)
  await service.restart()
  t.match(await waiting, { status: 200, body: { ok: true, result: { length: 0 } } })
  t.same(await texts(), [], 'the confirmation was not lost')
  await arrived('c')
  t.same(await texts({ offset: 1 }), ['c'])
})

function waits(key: string): boolean {
  const actor = service.gateway.core.keys.peek(Number(key.split(':')[0]))
  return actor?.snapshot.context.waiting !== undefined
}

/** Over HTTP nobody can see that a poll is held. */
const isWaiting = (key: string) => until(() => waits(key))
