/** Forums as an account of Telegram uses them beyond the contract: answers, forwards, and what others announce. */
import t, { type Test } from 'tap'
import type { Operation } from '../../machines/model/operation.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('Telegram accounts write in topics', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const inForum = async (t: Test) => {
    const scene = await live(t, stage)
    const forum = network.channel(scene.person, [scene.friend], false)
    forum.isForum = true
    network.delivery.send(scene.friend, forum, { message: 'hello' })
    const session = await scene.listen()
    const chat = nativeOfPlace(forum)
    const does = (operation: Operation) => perform(session, operation)
    const made = await does({ kind: 'create_topic', chat, name: 'Tea', iconColor: 0xff0000 })
    if (made.kind !== 'topic') throw new Error('no topic')
    return { ...scene, forum, chat, does, session, topic: made.topic }
  }

  await t.test(
    'an answer, a forward and a copy stand in the topic they were sent to',
    async (t) => {
      const { chat, does, session, topic, forum, write, store, friend } = await inForum(t)
      t.match(topic, { name: 'Tea', iconColor: 0xff0000 })
      const there = { topic: topic.native }
      const first = await sent(session, chat, 'first', there)
      const answer = await sent(session, chat, 'second', { replyTo: first.native, ...there })
      t.match(answer, { topic: { native: topic.native }, replyTo: { native: first.native } })
      const alone = await sent(session, chat, 'third', { replyTo: first.native })
      t.match(alone, { topic: { native: topic.native } }, 'where the message answered stands')
      t.notOk(first.replyTo, 'the topic itself is no answer')

      write('pass it on')
      const told = await store.message('pass it on')
      const message = told.kind === 'message' ? told.message.native : ''
      for (const kind of ['forward', 'copy'] as const) {
        const passOn = { kind, chat, from: `${friend.id}`, message } as const
        const inTopic = { message: { topic: { native: topic.native } } }
        t.match(await does({ ...passOn, ...there }), inTopic)
        t.match(await does(passOn), { message: { topic: undefined } })
        const gone = refusalOf(does({ ...passOn, topic: '999' }))
        t.match(await gone, { description: 'message thread not found' })
      }
      const optional = sending(chat, 'fourth', { replyTo: '999', replyOptional: true, ...there })
      t.match(await does(optional), { message: { topic: { native: topic.native } } })
      t.equal(forum.topics.size, 1)
    },
  )

  await t.test('what becomes of a topic is announced in it', async (t) => {
    const { chat, does, topic, forum } = await inForum(t)
    const place = { chat, topic: topic.native }
    const others = await live(t, stage)
    forum.members.add(others.person.id)
    const listener = others.store
    await others.listen()
    await does({ kind: 'edit_topic', ...place, name: 'Coffee', icon: '5368324170671202286' })
    await does({ kind: 'edit_topic', ...place, icon: '' })
    await does({ kind: 'close_topic', ...place })
    await does({ kind: 'reopen_topic', ...place })
    const facts = () =>
      listener.happenings.flatMap((one) =>
        one.kind === 'message' && one.message.content.kind === 'service' ? [one.message] : [],
      )
    const heard = await listener.until(() => (facts().length >= 4 ? facts() : undefined))
    const icon = '5368324170671202286'
    t.match(
      heard.map(({ content }) => content),
      [
        { fact: 'topic_edited', name: 'Coffee', icon },
        { fact: 'topic_edited', icon: '' },
        { fact: 'topic_closed' },
        { fact: 'topic_reopened' },
      ],
    )
    t.ok(heard.every((message) => message.topic?.native === topic.native))
  })

  await t.test('what is no forum, or no topic, is refused', async (t) => {
    const { does, person, friend, chat, store } = await inForum(t)
    const group = network.channel(person, [friend], false)
    network.delivery.send(friend, group, { message: 'no topics here' })
    // Until then the account does not know the group.
    await store.message('no topics here')
    const plain = { kind: 'create_topic', chat: nativeOfPlace(group), name: 'Tea' } as const
    t.match(await refusalOf(does(plain)), { description: 'the chat is not a forum' })
    const close = { kind: 'close_topic', chat } as const
    const ids = { '999': 'TOPIC_ID_INVALID', none: 'message thread not found' }
    for (const [topic, description] of Object.entries(ids)) {
      t.match(await refusalOf(does({ ...close, topic })), { code: 'bad_request', description })
    }
  })
})
