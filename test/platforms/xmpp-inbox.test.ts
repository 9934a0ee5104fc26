/** What waits to be stored is bound, by how many messages there are and by how large they are. */
import { xml } from '@xmpp/client'
import t from 'tap'
import type { IncomingMessage } from '../../src/platforms/xmpp/delivery.ts'
import { Inbox } from '../../src/platforms/xmpp/inbox.ts'
import { weightOf } from '../../src/platforms/xmpp/transport.ts'

const delivery = (archived: string, text: string): IncomingMessage => ({
  message: xml('message', { id: archived }, xml('body', {}, text)),
  archive: 'me@here.test',
  archived,
  key: archived,
  at: 0,
  recovered: false,
  own: false,
})

function inbox() {
  const stored: string[] = []
  const failures: unknown[] = []
  const box = new Inbox({
    async commit(deliveries) {
      for (const { archived } of deliveries) stored.push(archived ?? '')
    },
    failed: (cause) => failures.push(cause),
  })
  return { box, stored, failures }
}

t.test('too much to be held is not held', async (t) => {
  const { box, failures } = inbox()
  const large = 'x'.repeat(2 ** 20)
  for (let count = 0; count < 31; count++) box.push(delivery(`${count}`, large))
  t.strictSame(failures, [])
  for (let count = 31; count < 33; count++) box.push(delivery(`${count}`, large))
  t.equal(failures.length, 1)
})

t.test('what is stored, or known already, makes room for more', async (t) => {
  const { box, stored, failures } = inbox()
  const large = 'x'.repeat(8 * 2 ** 20)
  for (let round = 0; round < 5; round++) {
    box.push(delivery(`known ${round}`, large))
    box.push(delivery(`news ${round}`, large))
    box.release(new Set([`known ${round}`]))
    await box.hold()
  }
  t.strictSame(stored, ['news 0', 'news 1', 'news 2', 'news 3', 'news 4'])
  t.strictSame(failures, [])
})

t.test('what comes in the moment in which nothing waits any more is stored', async (t) => {
  const { box, stored } = inbox()
  box.release(new Set())
  await box.push(delivery('first', ''))
  const others = ['second', 'third'].map(async (id, turns) => {
    for (let turn = 0; turn < turns; turn++) await undefined
    await box.push(delivery(id, ''))
  })
  await Promise.all(others)
  t.strictSame(stored, ['first', 'second', 'third'])
})

t.test('a stanza of any depth is weighed', async (t) => {
  let deep = xml('a', { name: 'value' }, 'text')
  for (let depth = 0; depth < 50_000; depth++) deep = xml('a', {}, deep)
  t.ok(weightOf(deep) > 50_000)
})

t.test('a flood is stored in batches, and what comes alone at once', async (t) => {
  const batches: number[] = []
  const box = new Inbox({
    commit: async (deliveries) => void batches.push(deliveries.length),
    failed: (cause) => t.fail('it is stored', { cause }),
  })
  box.release(new Set())
  const began = performance.now()
  await box.push(delivery('alone', ''))
  t.same(batches, [1])
  await Promise.all(['2', '3', '4'].map((id) => box.push(delivery(id, ''))))
  t.same(batches, [1, 3])
  t.ok(performance.now() - began >= 9, 'they have waited for more')
  const flood = Array.from({ length: 250 }, (_, place) => box.push(delivery(`${place}`, '')))
  await Promise.all(flood)
  t.same(batches.slice(2), [100, 100, 50])
})

t.test('a batch that is full does not wait for more', async (t) => {
  const { box, stored } = inbox()
  box.release(new Set())
  for (let place = 0; place < 400; place++) box.push(delivery(`${place}`, ''))
  // Without any timer.
  for (let turn = 0; turn < 100; turn++) await undefined
  t.equal(stored.length, 400)
})
