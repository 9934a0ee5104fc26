/** What a Telegram account missed: gaps in the count, cuts, channels, and deletions whose chat nobody tells. */
import t from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { patience, run, type Store } from './contract/recorder.ts'
import { perform, refusalOf, sending } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

const deletions = (store: Store, count: number) =>
  store.until(() => {
    const found = store.happenings.filter(({ kind }) => kind === 'deleted')
    return found.length >= count ? found : undefined
  })

t.test('Telegram accounts miss nothing', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage

  await t.test('a gap in the count is filled', async (t) => {
    const { person, store, open, write } = await live(t, stage)
    await open()
    write('before')
    await store.message('before')
    person.isHushed = true
    for (let i = 0; i < 4; i++) write(`hushed ${i}`)
    person.isHushed = false
    write('after')
    await store.message('after')
    await store.message('hushed 3')
    t.strictSame(store.texts().toSorted(), [
      'after',
      'before',
      'hushed 0',
      'hushed 1',
      'hushed 2',
      'hushed 3',
    ])
  })

  await t.test('a short cut is survived by the session, and what it missed is told', async (t) => {
    const { person, store, open, write } = await live(t, stage)
    const session = await open()
    network.cut(person, 200)
    write('while cut')
    await store.message('while cut')
    t.notOk(session.reports.some(([report]) => report === 'lost'))
  })

  await t.test('a probe finds what was not told', async (t) => {
    const { person, store, open, write } = await live(t, stage)
    const { session } = await open()
    person.isHushed = true
    write('unheard')
    person.isHushed = false
    await session.probe(patience())
    await store.message('unheard')
  })

  await t.test('deletions are told with their chat', async (t) => {
    const { person, friend, store, open, write } = await live(t, stage)
    const group = network.group([person, friend])
    const first = await open()
    const private_ = write('private')
    const grouped = network.delivery.send(friend, group, { message: 'grouped' })
    await store.message('grouped')
    await first.stop()
    // Also by a session that never saw the messages itself.
    await open()
    network.delivery.delete(friend, [private_, grouped])
    const [deleted] = await deletions(store, 2)
    t.ok(deleted)
    const chats = store.happenings.flatMap((it: Happening) =>
      it.kind === 'deleted' ? [[it.chat, it.surface, it.messages.length]] : [],
    )
    t.strictSame(chats, [
      [`${friend.id}`, 'private', 1],
      [nativeOfPlace(group), 'group', 1],
    ])
  })

  await t.test('a deletion of what the account sent itself is found as well', async (t) => {
    const { person, friend, store, open, write } = await live(t, stage)
    const session = await open()
    write('hello')
    await store.message('hello')
    const result = await perform(session, sending(`${friend.id}`, 'mine'))
    const native = result.kind === 'message' ? result.message.native : ''
    network.delivery.delete(person, [Number(native)])
    t.match((await deletions(store, 1))[0], {
      chat: new RegExp(`^${friend.id}$`),
      messages: [native],
    })
  })

  await t.test('missed posts of channels are told as recovered', async (t) => {
    const { person, friend, store, open } = await live(t, stage)
    const channel = network.channel(friend, [person])
    const first = await open()
    // It has asked what it missed when it answers.
    await first.session.probe(patience())
    network.delivery.send(friend, channel, { message: 'live post' })
    t.notOk((await store.message('live post')).recovered)
    await first.stop()
    network.delivery.send(friend, channel, { message: 'missed post' })
    await open()
    const missed = await store.message('missed post')
    t.match(missed, {
      recovered: true,
      message: { chat: { native: nativeOfPlace(channel), surface: 'channel' } },
    })
    t.notOk(missed.kind === 'message' && missed.message.from, 'posts have no writer')
  })

  await t.test('what a session was not told that the network has forgotten is told', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const channel = network.channel(friend, [person])
    const { session } = await listen()
    network.delivery.send(friend, channel, { message: 'live post' })
    await store.message('live post')
    for (const connection of network.connectionsOf(person)) connection.forget()
    network.delivery.send(friend, channel, { message: 'unheard post' })
    await session.probe(patience())
    await store.message('unheard post')
  })

  await t.test('a session that the network begins repeats no request that began it', async (t) => {
    const { person, listen } = await live(t, stage)
    const asked = () => network.requests('updates.getState')
    const { session } = await listen()
    for (const connection of network.connectionsOf(person)) connection.forget()
    const before = asked()
    await session.probe(patience())
    await session.probe(patience())
    t.equal(asked(), before + 2)
  })

  await t.test('a session that goes on needs no probe, a first one does', async (t) => {
    const { open } = await live(t, stage)
    const first = await open()
    const [, none] = await first.reported('opened')
    t.equal(none, undefined, 'what it asks at first may take long')
    await first.stop()
    const asked = network.requests('users.getUsers')
    const began = performance.now()
    const again = await open()
    const took = performance.now() - began
    const [, latencyMs] = await again.reported('opened')
    t.ok(typeof latencyMs === 'number' && latencyMs > 0 && latencyMs <= took, `${latencyMs} ms`)
    t.equal(network.requests('users.getUsers'), asked + 1)
  })

  await t.test('the network is not asked to close a connection that rests', async (t) => {
    const { person, listen } = await live(t, stage)
    const { session } = await listen()
    await session.probe(patience())
    for (const { closesAfter = 0 } of network.connectionsOf(person)) {
      t.ok(closesAfter > 120, `${closesAfter} s: the next ping comes after more than a minute`)
    }
  })

  await t.test('a flood wait is told with its end, and hinders nothing else', async (t) => {
    const { person, friend, open, store, write } = await live(t, stage)
    const session = await open()
    write('hello')
    await store.message('hello')
    person.floodSeconds = 300
    const failure = await refusalOf(perform(session, sending(`${friend.id}`, 'too much')))
    t.match(failure, { code: 'rate_limited', retryAfterSeconds: 300 })
    t.strictSame(await session.reported('limited'), ['flood_wait', 300])
    t.ok((await session.session.probe(patience())) >= 0)
  })

  await t.test('a session that the network tells to wait comes back only then', async (t) => {
    const { person, store } = await live(t, stage)
    person.shySeconds = 300
    const session = run(stage.platform(), store)
    t.teardown(() => session.stop())
    t.strictSame(await session.reported('lost'), ['flood_wait', 300])
  })

  await t.test('a file is opened although its reference is too old', async (t) => {
    const { person, friend, store, open } = await live(t, stage)
    const { session } = await open()
    const bytes = Buffer.alloc(100_000, 'telegram')
    const file = stage.file('document', bytes)
    const { text, media } = stage.outgoing({
      kind: 'media',
      media: file,
      caption: { text: 'old file', entities: [] },
    })
    network.delivery.send(friend, person, { message: text, media })
    const told = await store.until(() =>
      store.happenings.find((it) => it.kind === 'message' && it.message.content.kind === 'media'),
    )
    if (told.kind !== 'message' || told.message.content.kind !== 'media') throw new Error('no file')
    const { native } = told.message.content.media.file as { native: string }
    network.files.expireReferences()
    const opened = await session.download(native, 50_001, patience())
    const chunks: Uint8Array[] = []
    for await (const chunk of opened.stream) chunks.push(chunk)
    t.ok(Buffer.concat(chunks).equals(bytes.subarray(50_001)))
  })
})
