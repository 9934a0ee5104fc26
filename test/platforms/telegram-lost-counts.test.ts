/** Counts of events that Telegram or the library no longer goes on from: nothing is lost that the chats still show. */
import t from 'tap'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

/** Beyond a million the library would not even ask. */
const LEAP = 2_000_000

t.test('Telegram accounts lose nothing with their counts', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { delivery } = network

  await t.test('of which the network says that it does not know it', async (t) => {
    const { person, store, listen, write } = await live(t, stage)
    const first = await listen()
    write('before')
    await store.message('before')
    await first.stop()
    for (let i = 0; i < 3; i++) write(`missed ${i}`)
    person.pts += 10
    person.countsFrom = person.pts
    const { session } = await listen()
    t.ok((await store.message('missed 2')).recovered)
    await session.probe(patience())
    write('after')
    t.notOk((await store.message('after')).recovered)
    t.strictSame(store.texts(), ['before', 'missed 0', 'missed 1', 'missed 2', 'after'])
  })

  await t.test('that leap while it listens', async (t) => {
    const { person, store, listen, write } = await live(t, stage)
    const { session } = await listen()
    write('before')
    await store.message('before')
    person.isHushed = true
    for (let i = 0; i < 3; i++) write(`unheard ${i}`)
    person.isHushed = false
    person.pts += LEAP
    write('heard')
    await store.message('heard')
    await session.probe(patience())
    write('after')
    t.notOk((await store.message('after')).recovered)
    const unheard = ['unheard 0', 'unheard 1', 'unheard 2']
    t.strictSame(store.texts(), ['before', ...unheard, 'heard', 'after'])
  })

  await t.test('that begin anew', async (t) => {
    const { person, store, listen, write } = await live(t, stage)
    const { session } = await listen()
    for (let i = 0; i < 10; i++) write(`before ${i}`)
    await store.message('before 9')
    person.isHushed = true
    write('unheard')
    person.isHushed = false
    person.events.splice(0)
    person.pts = 3
    delivery.tell(person, { _: 'updatePtsChanged' })
    await store.message('unheard')
    await session.probe(patience())
    write('after')
    await store.message('after')
    t.strictSame(store.texts().slice(-2), ['unheard', 'after'])
  })

  await t.test('of a channel that the network does not know, or that leap', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const group = network.channel(friend, [person], false)
    const post = (message: string) => delivery.send(friend, group, { message })
    const first = await listen()
    post('before')
    await store.message('before')
    await first.stop()
    for (let i = 0; i < 3; i++) post(`missed ${i}`)
    group.pts += 10
    group.countsFrom = group.pts
    const { session } = await listen()
    const missed = await store.message('missed 2')
    t.match(missed, { recovered: true, message: { chat: { native: nativeOfPlace(group) } } })
    await session.probe(patience())

    person.isHushed = true
    for (let i = 0; i < 3; i++) post(`unheard ${i}`)
    person.isHushed = false
    group.pts += LEAP
    post('heard')
    post('heard as well')
    await store.message('heard as well')
    await session.probe(patience())
    post('after')
    t.notOk((await store.message('after')).recovered)
    const all = ['before', 'missed 0', 'missed 1', 'missed 2']
    const rest = ['unheard 0', 'unheard 1', 'unheard 2', 'heard', 'heard as well', 'after']
    t.strictSame(store.texts(), [...all, ...rest])
  })

  await t.test('what a channel has is asked for again, also by the next session', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const group = network.channel(friend, [person], false)
    const post = (message: string) => delivery.send(friend, group, { message })
    const first = await listen()
    post('before')
    await store.message('before')
    await first.stop()
    post('missed')
    group.failures = 1
    const second = await listen()
    await store.until(() => (group.failures === 0 ? true : undefined))
    await second.session.probe(patience())
    await store.message('missed')

    await second.stop()
    post('missed again')
    group.failures = Number.POSITIVE_INFINITY
    const third = await listen()
    await store.until(() => owedIn(store.checkpoint))
    await third.stop()
    group.failures = 0
    // The network lists only what has changed since it was asked last.
    group.changedAt = 0
    await listen()
    await store.message('missed again')
    await store.until(() => (owedIn(store.checkpoint) ? undefined : true))
  })
})

const owedIn = (checkpoint: unknown) => (checkpoint as { readonly owed?: object }).owed
