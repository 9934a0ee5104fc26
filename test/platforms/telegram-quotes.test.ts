/** Answers with quotes and to messages of other chats, and effects, sent and received by an account of Telegram. */
import { Long } from '@mtcute/core'
import t from 'tap'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('Telegram accounts quote', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const bold = { type: 'bold', offset: 0, length: 3 }
  const quote = { text: 'tea', entities: [bold], position: 5 }

  await t.test('a part of the message answered is quoted, for its reader, too', async (t) => {
    const { friend, write, listen, store } = await live(t, stage)
    const session = await listen()
    write('some tea?')
    const told = await store.message('some tea?')
    const { native } = told.kind === 'message' ? told.message : { native: '' }
    const chat = `${friend.id}`
    const answer = await sent(session, chat, 'gladly', { replyTo: native, quote })
    t.match(answer, { replyTo: { native }, quote: { ...quote, isManual: true } })
    t.match([...friend.messages.values()].at(-1), {
      replyTo: { quoteText: 'tea', quoteOffset: 5, quoteEntities: [{ _: 'messageEntityBold' }] },
    })
    const wrong = { ...quote, text: 'coffee', entities: [] }
    const failure = await refusalOf(
      perform(session, sending(chat, 'no', { replyTo: native, quote: wrong })),
    )
    t.match(failure, { code: 'bad_request', description: 'QUOTE_TEXT_INVALID' })
  })

  await t.test('a task of a checklist and an option of a poll are answered', async (t) => {
    const { person, friend, write, listen, store } = await live(t, stage)
    const session = await listen()
    write('the list')
    const told = await store.message('the list')
    const { native } = told.kind === 'message' ? told.message : { native: '' }
    const chat = `${friend.id}`
    const answer = await sent(session, chat, 'done', {
      replyTo: native,
      answeredPart: { task: 2 },
    })
    t.match(answer, { replyTo: { native }, answeredTask: 2 })
    const [yes, no] = ['yes', 'no'].map((word) => ({
      _: 'pollAnswer' as const,
      text: { _: 'textWithEntities' as const, text: word, entities: [] },
      option: Buffer.from(word),
    }))
    const poll = {
      _: 'poll' as const,
      id: Long.ONE,
      hash: Long.ZERO,
      question: { _: 'textWithEntities' as const, text: 'Tea?', entities: [] },
      answers: [yes!, no!],
    }
    const results = { _: 'pollResults' as const }
    const media = { _: 'messageMediaPoll' as const, poll, results }
    network.delivery.send(friend, person, { message: '', media })
    const asked = `${[...person.messages.keys()].at(-1)}`
    await sent(session, chat, 'this one', { replyTo: asked, answeredPart: { option: 1 } })
    const header = [...friend.messages.values()].at(-1)?.replyTo
    const option = header?._ === 'messageReplyHeader' ? header.pollOption : undefined
    t.equal(Buffer.from(option ?? []).toString(), 'no')
    for (const replyTo of [asked, native]) {
      const none = sending(chat, 'x', { replyTo, answeredPart: { option: 9 } })
      t.match(await refusalOf(perform(session, none)), { description: 'POLL_OPTION_INVALID' })
    }
  })

  await t.test('effects go both ways, with whatever carries them', async (t) => {
    const { person, friend, listen, store } = await live(t, stage)
    network.delivery.send(friend, person, { message: 'before' })
    const session = await listen()
    const chat = `${friend.id}`
    const effect = '5104841245755180586'
    const first = await sent(session, chat, 'sparkling', { effect })
    t.equal(first.effect, effect)
    const seen = () => [...friend.messages.values()].at(-1)
    const shows = () => {
      const message = seen()
      return message?._ === 'message' ? message.effect?.toString() : undefined
    }
    t.equal(shows(), effect)
    const passed = { from: chat, message: first.native, chat, effect }
    for (const kind of ['forward', 'copy'] as const) {
      await perform(session, { kind, ...passed })
      t.equal(shows(), effect, kind)
    }
    t.notOk((await sent(session, chat, 'plain')).effect)
    const answer = Long.fromString(effect)
    network.delivery.send(friend, person, { message: 'back', effect: answer })
    t.match(await store.message('back'), { message: { effect } })
  })

  await t.test('a message of another chat is answered with where it comes from', async (t) => {
    const { person, friend, listen, store, write } = await live(t, stage)
    const channel = network.channel(friend, [person])
    const post = network.delivery.send(friend, channel, { message: 'news of tea' })
    const session = await listen()
    write('hello')
    await store.message('hello')
    const chat = `${friend.id}`
    const replyFrom = nativeOfPlace(channel)
    const answer = await sent(session, chat, 'seen?', { replyTo: `${post}`, replyFrom })
    t.match(answer, {
      externalReply: {
        chat: { native: replyFrom, surface: 'channel' },
        message: new RegExp(`^${post}$`),
      },
    })
    t.notOk(answer.replyTo)
    network.delivery.send(friend, person, {
      message: 'from elsewhere',
      replyTo: {
        _: 'messageReplyHeader',
        replyFrom: { _: 'messageFwdHeader', fromName: 'Hidden', date: 7 },
        quoteText: 'part',
        replyMedia: { _: 'messageMediaDice', value: 3, emoticon: '🎲' },
      },
    })
    t.match(await store.message('from elsewhere'), {
      message: {
        quote: { text: 'part', position: 0 },
        externalReply: {
          origin: { from: 'hidden', name: 'Hidden', at: 7 },
          content: { kind: 'dice', value: 3 },
        },
      },
    })
    const gone = sending(chat, 'x', { replyTo: '999', replyFrom })
    t.match(await refusalOf(perform(session, gone)), {
      description: 'message to be replied not found',
    })
  })
})
