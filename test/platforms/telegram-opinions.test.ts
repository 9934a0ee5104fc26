/** What a Telegram account hears of reactions and polls. */
import { Long, type tl } from '@mtcute/core'
import t from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { quietLogger } from '../support/logger.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { clock } from '../support/telegram-dc/clock.ts'
import { react, vote } from '../support/telegram-dc/opinions.ts'
import { samplePoll, sentContent } from './contract/message-operations.ts'
import type { Store } from './contract/recorder.ts'
import { perform } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

const told = <Kind extends Happening['kind']>(store: Store, kind: Kind, count = 1) =>
  store.until(() => {
    const found = store.happenings.filter((one) => one.kind === kind)
    return found.length >= count ? (found as (Happening & { kind: Kind })[]) : undefined
  })

const PAST = 1_000_000_000

t.test('Telegram accounts hear what others think', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { delivery } = network

  await t.test('a reaction is told with the one before it', async (t) => {
    const { friend, store, listen, write } = await live(t, stage)
    await listen()
    const id = write('like this')
    const message = await store.message('like this')
    react(network, friend, id, ['👍'])
    react(network, friend, id, ['❤'])
    react(network, friend, id, [])
    const native = message.kind === 'message' ? message.message.native : ''
    const about = { target: native, chat: { native: `${friend.id}` }, direction: 'incoming' }
    const from = { person: { native: `${friend.id}`, firstName: friend.firstName } }
    t.match(await told(store, 'reaction', 3), [
      { ...about, ...from, before: { length: 0 }, after: [{ emoji: '👍' }] },
      { ...about, ...from, before: [{ emoji: '👍' }], after: [{ emoji: '❤' }] },
      { ...about, ...from, before: [{ emoji: '❤' }], after: { length: 0 } },
    ])
    t.notOk(store.happenings.some(({ kind }) => kind === 'reaction_count'))
  })

  await t.test(
    'a reaction to an edited message is no edit, in this session or the next',
    async (t) => {
      const { person, friend, store, listen, write } = await live(t, stage)
      const first = await listen()
      const id = write('first')
      await store.message('first')
      react(network, friend, id, ['👍'])
      await told(store, 'reaction')
      t.notOk(
        store.happenings.some(({ kind }) => kind === 'edited'),
        'nor if it was never edited',
      )
      for (const message of ['second', 'first']) delivery.edit(friend, id, { message })
      await told(store, 'edited', 2)
      react(network, friend, id, ['🔥'])
      await told(store, 'reaction', 2)
      await first.stop()
      // Long before the next session, which has never seen the message.
      const [copy] = person.messages.keys()
      const message = person.messages.get(copy!)
      if (message?._ === 'message') person.messages.set(copy!, { ...message, editDate: PAST })
      await listen()
      react(network, friend, id, [])
      react(network, friend, id, ['❤'])
      await told(store, 'reaction', 3)
      t.equal(store.happenings.filter(({ kind }) => kind === 'edited').length, 2)
    },
  )

  await t.test('nor soon after a restart, where it names the same edit once more', async (t) => {
    const { friend, store, listen, write } = await live(t, stage)
    const first = await listen()
    const id = write('first')
    await store.message('first')
    delivery.edit(friend, id, { message: 'second' })
    await told(store, 'edited')
    await first.stop()
    await listen()
    react(network, friend, id, ['👍'])
    await told(store, 'reaction')
    t.same(store.texts('edited'), ['second'])
  })

  await t.test('an edit of a rich message, or of the preview alone, is an edit', async (t) => {
    const { friend, store, listen, write } = await live(t, stage)
    await listen()
    const id = write('plain')
    await store.message('plain')
    const rich = (text: string): tl.RawRichMessage => ({
      _: 'richMessage',
      blocks: [{ _: 'pageBlockParagraph', text: { _: 'textPlain', text } }],
      photos: [],
      documents: [],
    })
    const preview = (url: string): tl.RawMessageMediaWebPage => ({
      _: 'messageMediaWebPage',
      manual: true,
      webpage: { _: 'webPageEmpty', id: Long.ONE, url },
    })
    for (const text of ['tea', 'coffee']) delivery.edit(friend, id, { richMessage: rich(text) })
    await told(store, 'edited', 2)
    for (const name of ['a', 'b'])
      delivery.edit(friend, id, { media: preview(`https://${name}.test`) })
    await told(store, 'edited', 4)
    react(network, friend, id, ['👍'])
    await told(store, 'reaction')
    t.equal(store.happenings.filter(({ kind }) => kind === 'edited').length, 4)
  })

  await t.test('a reaction that was missed is told after the break', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    await listen()
    const id = write('missed')
    await store.message('missed')
    person.isHushed = true
    react(network, friend, id, ['👍'])
    person.isHushed = false
    write('after')
    t.match(await told(store, 'reaction'), [{ before: { length: 0 }, after: [{ emoji: '👍' }] }])
  })

  await t.test('what others do is told also where the account has acted meanwhile', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const session = await listen()
    const id = write('theirs')
    const heard = await store.message('theirs')
    const message = heard.kind === 'message' ? heard.message.native : ''
    person.isHushed = true
    react(network, friend, id, ['👍'])
    delivery.edit(friend, id, { message: 'changed' })
    const reactions = [{ emoji: '🔥' }]
    await perform(session, { kind: 'react', chat: `${friend.id}`, message, reactions })
    person.isHushed = false
    write('after')
    await store.message('after')
    const [reaction, ...more] = await told(store, 'reaction')
    t.match(reaction, { direction: 'incoming', before: { length: 0 }, after: [{ emoji: '👍' }] })
    t.same(more, [], 'its own is no news')
    t.match(await told(store, 'edited'), [{ message: { content: { text: 'changed' } } }])
  })

  await t.test('a reaction is news also where the network is behind by its clock', async (t) => {
    clock.aheadSeconds = -3_600
    t.teardown(() => {
      clock.aheadSeconds = 0
    })
    const { friend, store, listen, write } = await live(t, stage)
    await listen()
    const id = write('behind')
    await store.message('behind')
    react(network, friend, id, ['👍'])
    t.match(await told(store, 'reaction'), [{ before: { length: 0 }, after: [{ emoji: '👍' }] }])
  })

  await t.test('what was thought before the session is no news', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const first = await listen()
    write('old')
    await store.message('old')
    await first.stop()
    const [id] = friend.messages.keys()
    const copy = [...person.messages.keys()][0]!
    person.reactions.set(copy, new Map([[friend.id, { emoji: ['👍'], at: PAST }]]))
    friend.reactions.set(id!, new Map([[friend.id, { emoji: ['👍'], at: PAST }]]))
    await listen()
    react(network, person, copy, ['🔥'])
    t.match(await told(store, 'reaction'), [
      {
        direction: 'own',
        person: { native: new RegExp(`^${person.id}$`) },
        before: { length: 0 },
        after: [{ emoji: '🔥' }],
      },
    ])
    react(network, friend, id!, [])
    t.match((await told(store, 'reaction', 2))[1], {
      before: [{ emoji: '👍' }],
      after: { length: 0 },
    })
  })

  await t.test('where people are not named, reactions are counted', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const channel = network.channel(friend, [person])
    await listen()
    const msgId = delivery.send(friend, channel, { message: 'post' })
    await store.message('post')
    const reaction = { _: 'reactionEmoji', emoticon: '👍' } as const
    // A report that is repeated is no other; a count that comes back is.
    for (const count of [7, 7, 8, 7]) {
      delivery.tell(person, {
        _: 'updateMessageReactions',
        peer: { _: 'peerChannel', channelId: channel.id },
        msgId,
        reactions: {
          _: 'messageReactions',
          results: [{ _: 'reactionCount', reaction, count }],
        },
      })
    }
    t.match(
      await told(store, 'reaction_count', 3),
      [7, 8, 7].map((count) => ({
        chat: { native: nativeOfPlace(channel), surface: 'channel' },
        target: new RegExp(`^${msgId}$`),
        counts: [{ reaction: { emoji: '👍' }, count }],
      })),
    )
  })

  await t.test('whoever a shortened list leaves out has not changed their mind', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const group = network.channel(friend, [person], false)
    await listen()
    const msgId = delivery.send(friend, group, { message: 'popular' })
    await store.message('popular')
    const emoji = { _: 'reactionEmoji', emoticon: '👍' } as const
    const tell = (count: number, userId: number) =>
      delivery.tell(person, {
        _: 'updateMessageReactions',
        peer: { _: 'peerChannel', channelId: group.id },
        msgId,
        reactions: {
          _: 'messageReactions',
          results: [{ _: 'reactionCount', reaction: emoji, count }],
          recentReactions: [
            {
              _: 'messagePeerReaction',
              peerId: { _: 'peerUser', userId },
              date: Math.floor(Date.now() / 1000) + 1,
              reaction: emoji,
            },
          ],
        },
      })
    tell(5, friend.id)
    tell(6, person.id)
    const counted = await told(store, 'reaction_count', 2)
    t.strictSame(
      counted.map(({ counts }) => counts.map(({ count }) => count)),
      [[5], [6]],
    )
    const people = (await told(store, 'reaction', 2)).map(({ person, after }) => [
      person.native,
      after.length,
    ])
    t.strictSame(people, [
      [`${friend.id}`, 1],
      [`${person.id}`, 1],
    ])
  })

  await t.test('a poll is told with its question, which the network leaves out', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const session = await listen()
    const { content } = await sentContent(session, `${friend.id}`, samplePoll)
    const [id] = friend.messages.keys()
    for (const option of [0, 0, 1]) vote(network, friend, id!, { option, isPlaced: false })
    const poll = content.kind === 'poll' ? content.poll : undefined
    const standing = {
      poll: { id: poll?.id, question: poll?.question, options: [{ voters: 0 }, { voters: 1 }] },
    }
    t.match(
      await told(store, 'poll', 2),
      [{ poll: { options: [{ voters: 1 }, { voters: 0 }] } }, standing],
      'a report that is repeated is no other',
    )

    await session.stop()
    await listen()
    vote(network, friend, id!, { option: 1, isPlaced: true })
    t.match((await told(store, 'poll', 3))[2], standing, 'the question was asked for')
    t.ok(network.requests('messages.getMessages') > 0)
    t.equal(person.messages.size, 1)
  })

  await t.test('a poll of which nothing is known is warned of', async (t) => {
    const warned = Promise.withResolvers<object>()
    const logger = { ...quietLogger, warn: (facts: object) => warned.resolve(facts) }
    const { friend, listen, store, write } = await live(t, stage, { logger })
    const first = await listen()
    await sentContent(first, `${friend.id}`, samplePoll)
    const [id] = friend.messages.keys()
    // A checkpoint that covers the poll: the network would tell it again.
    write('later')
    await store.message('later')
    await first.stop()
    await listen()
    vote(network, friend, id!, { option: 0, isPlaced: false })
    t.match(await warned.promise, { update: 'updateMessagePoll' })
    t.notOk(store.happenings.some(({ kind }) => kind === 'poll'))
  })
})
