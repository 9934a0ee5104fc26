/** A data centre that says what cannot be read: the account goes on, and what is lost of it is told. */
import { gzipSync } from 'node:zlib'
import { TlBinaryReader } from '@mtcute/core/utils.js'
import t from 'tap'
import type { RequestFailed } from '../../machines/model/failure.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import type { Person } from '../support/telegram-dc/people.ts'
import { Writer } from '../support/telegram-dc/writer.ts'
import { carries } from './contract/content.ts'
import { patience, run } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

type Garbles = NonNullable<Stage['network']['habits']['garbles']>
const word = (value: number) => new Writer().uint(value)
const zipped = (bytes: Buffer) => word(0x3072cfa1).bytes(bytes).out()

const NEWER = word(0xdeadbeef).uint(0).out()
const broken: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  'a form that nobody knows': () => NEWER,
  'half of an object': (body) => body.subarray(0, (body.length >> 3) << 2),
  'no archive': () => zipped(Buffer.from('no archive')),
  // It begins with what can be read, so that only its length is wrong. The library's own limit is that of the heap.
  'an archive that unpacks to a multiple of the memory': (body) =>
    zipped(gzipSync(Buffer.concat([body, Buffer.alloc(80 << 20)]))),
}

/** What is said meanwhile is not told to the person's devices. */
function unheard(person: Person, say: () => void) {
  person.isHushed = true
  say()
  person.isHushed = false
}

t.test('an account goes on after what cannot be read', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const options = { answerMilliseconds: 20_000 }
  /** Garbles answers to these methods, or what is said unasked. */
  const garble = (methods: readonly (string | undefined)[], garbles: Garbles) => {
    network.habits.garbles = (body, method) =>
      methods.includes(method) ? garbles(body, method) : [body]
  }
  t.afterEach(() => {
    network.habits.garbles = undefined
    network.habits.packs = false
  })

  for (const [name, spoil] of Object.entries(broken)) {
    await t.test(`${name}: an update`, async (t) => {
      const { person, store, listen, write } = await live(t, stage, options)
      const { reported } = await listen()
      const connections = network.connectionsOf(person)
      garble([undefined], (body) => [spoil(body)])
      write('missed')
      await store.message('missed')
      t.strictSame(await reported('skipped'), ['changes'], 'what is not listed is told as left out')
      network.habits.garbles = undefined
      write('after')
      await store.message('after')
      t.strictSame(network.connectionsOf(person), connections, 'no connection is given up for it')
    })
  }

  await t.test('the rest of its packet counts', async (t) => {
    const { person, listen } = await live(t, stage, options)
    const { session } = await listen()
    const [connection] = network.connectionsOf(person).filter(({ wantsUpdates }) => wantsUpdates)
    network.habits.packs = true
    garble(['updates.getState'], (body) => {
      t.ok(connection, 'the bad object is said')
      connection?.say(NEWER)
      return [body]
    })
    const asked = network.requests('updates.getState')
    await session.probe(patience())
    t.equal(network.requests('updates.getState') - asked, 1)
  })

  await t.test('a list of what was missed: the chats are read', async (t) => {
    const { person, store, listen, write } = await live(t, stage, options)
    const { session, reported } = await listen()
    garble(['updates.getDifference'], () => [NEWER])
    unheard(person, () => write('missed'))
    const asked = network.requests('updates.getDifference')
    await session.probe(patience())
    await store.message('missed')
    t.strictSame(await reported('skipped'), ['changes'])
    write('after')
    t.notOk((await store.message('after')).recovered, 'nothing is asked for it')
    await session.probe(patience())
    t.equal(network.requests('updates.getDifference') - asked, 1, 'it is not asked without end')
  })

  await t.test('on a connection for files it is no gap: nothing can be lost there', async (t) => {
    const methods: unknown[] = []
    const warn = (facts: object) => void ('method' in facts && methods.push(facts.method))
    const logger = { ...quietLogger, warn }
    const { person, friend, store, listen } = await live(t, stage, { ...options, logger })
    const { session, reports } = await listen()
    const { text, media } = stage.outgoing({
      kind: 'media',
      media: stage.file('document', Buffer.alloc(300_000, 'x')),
      caption: { text: '', entities: [] },
    })
    network.delivery.send(friend, person, { message: text, media })
    const told = await store.until(() => store.happenings.find(carries('document')))
    if (told.kind !== 'message' || told.message.content.kind !== 'media') throw new Error('no file')
    const { file } = told.message.content.media
    const opened = await session.download('native' in file ? file.native : '', 0, patience())
    for await (const chunk of opened.stream) t.ok(chunk.length > 0)
    const other = network.connectionsOf(person).filter(({ wantsUpdates }) => !wantsUpdates)
    t.ok(other.length > 0)
    for (const connection of other) connection.say(NEWER)
    await until(() => methods.length > 0)
    t.strictSame(methods, ['notice'])
    t.notOk(reports.some(([name]) => name === 'skipped'))
  })

  await t.test('of lists that stay unreadable the operator hears once', async (t) => {
    const warnings: string[] = []
    const warn = (_: object, what: string) => void warnings.push(what)
    const logger = { ...quietLogger, warn }
    const { person, store, listen, write } = await live(t, stage, { ...options, logger })
    const { session } = await listen()
    garble(['updates.getDifference'], () => [NEWER])
    for (const text of ['one', 'another']) {
      unheard(person, () => write(text))
      await session.probe(patience())
      await store.message(text)
    }
    t.equal(warnings.filter((what) => what.includes('a list is unreadable')).length, 1)
  })

  await t.test('nor can the chats be read: that is told', async (t) => {
    const { person, store, listen, write } = await live(t, stage, options)
    const { session, reports } = await listen()
    garble(['updates.getDifference', 'messages.getDialogs'], () => [NEWER])
    unheard(person, () => write('missed'))
    await session.probe(patience())
    await store.until(() => reports.filter(([name]) => name === 'skipped').length > 1 || undefined)
    const skipped = reports.flatMap(([name, what]) => (name === 'skipped' ? [what] : []))
    t.strictSame(skipped, ['messages', 'changes'])
    write('after')
    await store.message('after')
  })

  await t.test('nor a single chat', async (t) => {
    const { person, store, listen, write } = await live(t, stage, options)
    const { session, reported } = await listen()
    garble(['updates.getDifference', 'messages.getHistory'], () => [NEWER])
    unheard(person, () => write('missed'))
    await session.probe(patience())
    t.strictSame(await reported('skipped'), ['messages'])
    write('after')
    await store.message('after')
  })

  await t.test('what a channel has', async (t) => {
    const { person, friend, store, listen } = await live(t, stage, options)
    const group = network.channel(friend, [person], false)
    const post = (message: string) => network.delivery.send(friend, group, { message })
    const { reported } = await listen()
    post('before')
    await store.message('before')
    garble(['updates.getChannelDifference'], () => [NEWER])
    unheard(person, () => post('missed'))
    post('after')
    await store.message('missed')
    await store.message('after')
    t.strictSame(await reported('skipped'), ['changes'])
  })

  await t.test('what a channel has of which only live posts are told', async (t) => {
    const { person, friend, store, open } = await live(t, stage, options)
    const channel = network.channel(friend, [person])
    const post = (message: string) => network.delivery.send(friend, channel, { message })
    const { session, reported } = await open({ recoverChannels: false })
    await session.probe(patience())
    post('before')
    await store.message('before')
    garble(['updates.getChannelDifference'], () => [NEWER])
    unheard(person, () => post('missed'))
    post('after')
    for (const text of ['missed', 'after']) t.notOk((await store.message(text)).recovered, text)
    t.strictSame(await reported('skipped'), ['changes'])
    t.strictSame(store.texts().toSorted(), ['after', 'before', 'missed'], 'each once')
  })

  await t.test('a list that never comes is asked for again, and probes fail', async (t) => {
    const slow = { answerMilliseconds: 2_000 }
    const { person, store, listen, write } = await live(t, stage, slow)
    const { session } = await listen()
    garble(['updates.getDifference'], () => [])
    unheard(person, () => write('missed'))
    const probe = () => session.probe(patience()).catch((cause: RequestFailed) => cause)
    const refused = await until(async () => {
      const outcome = await probe()
      return typeof outcome !== 'number' && outcome
    })
    t.match(refused, { failure: { description: 'Telegram does not tell what was missed' } })
    network.habits.garbles = undefined
    await until(async () => typeof (await probe()) === 'number')
    await store.message('missed')
  })

  await t.test('an answer refuses its request', async (t) => {
    const { person, store, listen, write } = await live(t, stage, options)
    const { session } = await listen()
    const connections = network.connectionsOf(person)
    garble(['updates.getState'], () => [NEWER])
    const refusal = await session.probe(patience()).catch((cause: RequestFailed) => cause)
    t.match(refusal, {
      failure: { code: 'bad_gateway', description: 'Telegram failed: ANSWER_UNREADABLE' },
    })
    network.habits.garbles = undefined
    await session.probe(patience())
    t.strictSame(network.connectionsOf(person), connections)
    write('after')
    await store.message('after')
  })

  await t.test('not to learn who it is is the end of the session', async (t) => {
    const { store } = await live(t, stage, options)
    garble(['users.getUsers'], () => [NEWER])
    const refused = run(stage.platform(options), store)
    t.teardown(() => refused.stop())
    t.strictSame((await refused.reported('lost'))[0], 'bad_answer')
  })
})

t.test('a list that says that it is longer than its packet is not read', async (t) => {
  const readers = {} as ConstructorParameters<typeof TlBinaryReader>[0]
  const list = (count: number, isBare = false) => {
    const bytes = (isBare ? new Writer() : word(0x1cb5c415)).uint(count).uint(0).uint(0).out()
    const reader = new TlBinaryReader(readers, bytes)
    return () => reader.vector(reader.bytes, isBare)
  }
  t.equal(list(2)().length, 2)
  t.throws(list(3), RangeError)
  t.equal(list(2, true)().length, 2)
  t.throws(list(1_000_000, true), RangeError)
})
