/** Reactions (XEP-0444): those of people become updates, those of bots are seen by people, in chats and in rooms. */
import { xml } from '@xmpp/client'
import t from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { MessageNames } from '../../src/platforms/xmpp/message-identity.ts'
import { Opinions, reactionsIn } from '../../src/platforms/xmpp/reading.ts'
import type { Store } from './contract/recorder.ts'
import { perform, refusalOf, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const reactionsTo = (store: Store, target: string, count: number) =>
  store.until(() => {
    const isThat = (happening: Happening) =>
      happening.kind === 'reaction' && happening.target === target
    const found = store.happenings.filter(isThat)
    return found.length >= count ? found : undefined
  })

t.test('what is no emoji is not taken for one, and nothing counts twice', async (t) => {
  const reactions = ['👍', ' 👍 ', '', 'x'.repeat(33), '🐢'].map((emoji) =>
    xml('reaction', {}, emoji),
  )
  const message = (attrs: { id?: string }) =>
    xml('message', {}, xml('reactions', { xmlns: 'urn:xmpp:reactions:0', ...attrs }, ...reactions))
  t.same(reactionsIn(message({ id: 'a' })), {
    id: 'a',
    reactions: [{ emoji: '👍' }, { emoji: '🐢' }],
  })
  t.equal(reactionsIn(message({})), undefined)
  t.equal(reactionsIn(xml('message')), undefined)
})

t.test('what somebody thought before is known, also when an event is read again', async (t) => {
  const opinions = new Opinions()
  const event = (sourceKey: string) => ({ sourceKey, direction: 'incoming', at: 1 }) as const
  const chat = { native: 'eve@test', surface: 'private', firstName: 'eve' } as const
  const [like, love] = [[{ emoji: '👍' }], [{ emoji: '❤' }]]
  const names = new MessageNames()
  const says = (key: string, id: string, reactions: typeof like, native = 'eve@test') => {
    const person = { native, firstName: native }
    return opinions.change(event(key), { chat, person }, { id, reactions }, names)
  }
  t.match(says('1', 'a', like), { target: 'a', before: { length: 0 }, after: like })
  t.match(says('2', 'a', love), { before: like, after: love })
  t.match(says('2', 'a', love), { before: like, after: love })
  t.equal(says('3', 'a', love), undefined)
  t.match(says('4', 'b', love), { target: 'b', before: { length: 0 }, after: love })
  t.match(says('5', 'a', love, 'ada@test'), { before: { length: 0 }, after: love })
  t.match(says('6', 'a', []), { before: love, after: { length: 0 } })
})

t.test('reactions on XMPP', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  await t.test('in a private chat, with a text for clients that do not know them', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    const { native } = await sent(first, chat, 'like this')
    friend.send(
      account.jid,
      '> like this\n👍',
      [
        '',
        {
          xml: `<reactions xmlns="urn:xmpp:reactions:0" id="${native}"><reaction>👍</reaction></reactions>`,
        },
      ],
      ['{urn:xmpp:fallback:0}fallback', { for: 'urn:xmpp:reactions:0' }],
    )
    friend.react(account.jid, native, '👍', '🐢')
    friend.react(account.jid, native)
    friend.send(account.jid, 'no more')
    await store.message('no more')
    const person = { native: chat }
    t.match(await reactionsTo(store, native, 3), [
      { chat: { native: chat }, person, before: { length: 0 }, after: [{ emoji: '👍' }] },
      { before: [{ emoji: '👍' }], after: [{ emoji: '👍' }, { emoji: '🐢' }] },
      { before: [{ emoji: '👍' }, { emoji: '🐢' }], after: { length: 0 } },
    ])
    t.same(store.texts(), ['the first words', 'no more'])
  })

  await t.test('in a room, by the ids that the room gives', async (t) => {
    const { account, friend, store, first } = await scene(t, network)
    const room = `reactions-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    const { native } = await sent(first, room, 'like this')
    friend.react(room, native, '🐢')
    const [reaction] = await reactionsTo(store, native, 1)
    t.match(reaction, {
      direction: 'incoming',
      chat: { native: room, surface: 'supergroup' },
      person: { native: friend.jid.split('/')[0], firstName: 'friend' },
      after: [{ emoji: '🐢' }],
    })
    friend.send(room, 'and this')
    const message = await store.message('and this')
    const target = message.kind === 'message' ? message.message.native : ''
    const react = { kind: 'react', chat: room, message: target } as const
    t.match(await perform(first, { ...react, reactions: [{ emoji: '👍' }] }), { kind: 'done' })
    const told = await friend.sees(({ reactions }) => reactions?.to === target)
    t.match(told, { from: /^reactions-/, body: null, reactions: { emojis: ['👍'] } })
    friend.send(room, 'seen')
    await store.message('seen')
    t.equal(store.happenings.filter(({ kind }) => kind === 'reaction').length, 1, 'but not its own')
  })

  await t.test('what cannot be told is refused', async (t) => {
    const { chat, first } = await scene(t, network)
    const { native } = await sent(first, chat, 'like this')
    const react = (message: string, reactions: object[]) =>
      refusalOf(perform(first, { kind: 'react', chat, message, reactions } as never))
    t.match(await react(native, [{ customEmojiId: '1' }]), {
      code: 'bad_request',
      description: 'REACTION_INVALID',
    })
    t.match(await react('unknown', [{ emoji: '👍' }]), {
      code: 'bad_request',
      description: 'message to react not found',
    })
  })
})
