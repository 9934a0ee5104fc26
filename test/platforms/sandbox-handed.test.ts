/** Messages are handed to sessions that are online; whatever is missing among them is read from the queue. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../../src/database/database.ts'
import { BatchedOutbox } from '../../src/sandbox/messages/send.ts'
import type { Wake } from '../../src/sandbox/network/context.ts'
import { stage } from './sandbox/stage.ts'

/** The names of named statements from now on. */
function named(db: Database): readonly string[] {
  const names: string[] = []
  const { query } = db
  const naming: Database['query'] = (statement, values) => {
    if (typeof statement !== 'string') names.push(statement.name)
    return query(statement, values)
  }
  Object.assign(db, { query: naming })
  return names
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)

t.test(
  'messages of people reach an account that is online without a look at its queue',
  async (t) => {
    const { online, register, sandbox, db } = await stage(t)
    const { person, store } = await online()
    const { id } = await register()
    await sandbox.actions.write(id, { to: person.id, text: 'open' })
    await store.message('open')
    const names = named(db)
    for (const text of numbered(3)) await sandbox.actions.write(id, { to: person.id, text })
    await Promise.all(
      numbered(30).map((text) => sandbox.actions.write(id, { to: person.id, text })),
    )
    await store.until(() => (store.happenings.length >= 34 ? true : undefined))
    t.strictSame(store.texts(), ['open', ...numbered(3), ...numbered(30)])
    t.notOk(names.includes('sandbox_page'), 'nobody read the queue')
    t.strictSame([...new Set(names)].filter((name) => name.startsWith('sandbox_send')).toSorted(), [
      'sandbox_send_one_plain',
      'sandbox_send_plain',
    ])
  },
)

/** Sends messages that nobody is woken for. Resolves with how they would be. */
async function unheard(db: Database, sender: number, native: number, count: number) {
  const woken: Parameters<Wake>[] = []
  const outbox = new BatchedOutbox(db, (...args) => void woken.push(args))
  for (const text of numbered(count)) {
    const content = { kind: 'text' as const, text, entities: [] }
    await outbox.send({ sender, native, request: text, content })
  }
  return woken
}

t.test('messages that are handed in with a gap are read, and none is reported twice', async (t) => {
  const { online, register, sandbox, db } = await stage(t)
  const { person, store } = await online()
  const { id } = await register()
  const { wake } = sandbox.hub
  // The session has looked at its queue once it is here.
  await sandbox.actions.write(id, { to: person.id, text: 'open' })
  await store.message('open')
  const [first, second, third, fourth] = await unheard(db, id, person.id, 4)
  t.strictSame(store.texts(), ['open'])
  wake(...second!)
  await store.message('3')
  wake(...first!)
  wake(...third!)
  wake(...fourth!)
  await sandbox.actions.write(id, { to: person.id, text: 'the last one' })
  await store.message('the last one')
  t.strictSame(store.texts(), ['open', ...numbered(4), 'the last one'])
  t.equal(store.reported.length, 6)
})

t.test('a message that nobody hands in is read after one that somebody does', async (t) => {
  const { online, register, sandbox, db } = await stage(t)
  const { person, store } = await online()
  const { id } = await register()
  const { wake } = sandbox.hub
  const [first, second] = await unheard(db, id, person.id, 3)
  wake(...first!)
  wake([person.id])
  wake(...second!)
  await store.message('2')
  t.strictSame(store.texts(), numbered(3))
})

t.test('an event that is not handed in is not forgotten beside a message that is', async (t) => {
  const { online, register, sandbox } = await stage(t)
  const { person, store } = await online()
  const { id } = await register()
  const { native } = await sandbox.actions.write(id, { to: person.id, text: 'open' })
  await store.message('open')
  const ref = { chat: person.id, message: Number(native) }
  for (const text of numbered(10)) {
    await Promise.all([
      sandbox.actions.write(id, { to: person.id, text }),
      sandbox.actions.edit(id, ref, { text }),
    ])
    await Promise.all([store.message(text), store.message(text, 'edited')])
  }
  t.strictSame(store.texts(), ['open', ...numbered(10)])
  t.strictSame(store.texts('edited'), numbered(10))
})

t.test('a message that the log does not take is read from the queue, once it does', async (t) => {
  const { online, open, register, sandbox } = await stage(t)
  const { person, session, store } = await online()
  const { id } = await register()
  await sandbox.actions.write(id, { to: person.id, text: 'open' })
  await store.message('open')
  store.failing = 1
  for (const text of numbered(2)) await sandbox.actions.write(id, { to: person.id, text })
  await session.reported('lost')
  await open(store)
  await store.message('1')
  t.strictSame(store.texts(), ['open', ...numbered(2)])
})

t.test('a gap within what is handed in is read', async (t) => {
  const { online, register, sandbox, db } = await stage(t)
  const { person, store } = await online()
  const { id } = await register()
  const [first, , third] = await unheard(db, id, person.id, 3)
  sandbox.hub.wake([person.id], [...(first?.[1] ?? []), ...(third?.[1] ?? [])])
  await store.message('2')
  t.strictSame(store.texts(), numbered(3))
})

t.test('what is handed in while the log is away is read from the queue', async (t) => {
  const { online, register, sandbox } = await stage(t)
  const { person, store } = await online()
  const { id } = await register()
  await sandbox.actions.write(id, { to: person.id, text: 'open' })
  await store.message('open')
  const { commit } = store
  let away = 1
  store.commit = async (...events) => {
    if (away-- > 0) throw failed('unavailable', 'the database is away')
    return commit.apply(store, events)
  }
  await sandbox.actions.write(id, { to: person.id, text: 'one' })
  await store.message('one')
  t.strictSame(store.texts(), ['open', 'one'])
})

/** Collects what nobody holds any more. */
function collect() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

t.test('a session that stands still keeps no messages', async (t) => {
  const { online, register, sandbox, db } = await stage(t)
  const { person, store } = await online()
  const { id } = await register()
  await sandbox.faults.put(person.id, { fault: 'silence' })
  const handIn = async () => {
    const woken = await unheard(db, id, person.id, 3)
    for (const one of woken) sandbox.hub.wake(...one)
    return woken.flatMap(([, messages = []]) => messages.map((message) => new WeakRef(message)))
  }
  const handed = await handIn()
  await endOfTurn()
  collect()
  t.same([handed.length, handed.filter((message) => message.deref()).length], [3, 0])
  await sandbox.faults.clear(person.id, 'silence')
  await store.message('2')
  t.strictSame(store.texts(), numbered(3))
})

t.test('sessions wake for a checklist after its change is there', async (t) => {
  const { online, register, sandbox, db } = await stage(t)
  const { person } = await online()
  const { id } = await register()
  const plain = (words: string) => ({ text: words, entities: [] })
  const checklist = { title: plain('Tea'), tasks: [{ id: 1, text: plain('boil') }] }
  const [sent] = await sandbox.actions.send(id, {
    to: person.id,
    contents: [{ kind: 'checklist', checklist: { ...checklist, othersMayMark: true } }],
  })
  const { transaction } = db
  let isOpen = false
  const watched: Database['transaction'] = async (work) => {
    isOpen = true
    const result = await transaction.call(db, work)
    isOpen = false
    return result as never
  }
  Object.assign(db, { transaction: watched })
  const woken: boolean[] = []
  const session = {
    reader: { person: person.id, session: 0, openedAt: 0, recoversChannels: () => true },
    wake: () => void woken.push(isOpen),
    faultsChanged: () => undefined,
    end: () => undefined,
    look: () => undefined,
  }
  sandbox.hub.add(session)
  t.teardown(() => sandbox.hub.remove(session))
  const ref = { chat: person.id, message: Number(sent?.native) }
  await sandbox.actions.markTasks(id, ref, { done: [1], undone: [] })
  t.strictSame(woken, [false])
})

t.test('a flood for a session that is busy is read from the queue', async (t) => {
  const { online, register, sandbox, db } = await stage(t)
  const { person, store } = await online()
  const { id } = await register()
  const held = Promise.withResolvers<void>()
  const { commit } = store
  store.commit = async (...events) => {
    await held.promise
    return commit.apply(store, events)
  }
  const woken = await unheard(db, id, person.id, 60)
  const names = named(db)
  for (const one of woken) sandbox.hub.wake(...one)
  held.resolve()
  await store.message('59')
  t.strictSame(store.texts(), numbered(60))
  t.ok(names.includes('sandbox_page'))
})
