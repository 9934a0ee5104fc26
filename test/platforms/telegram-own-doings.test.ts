/** What an account of Telegram does through its session is not told to it as news. */
import t from 'tap'
import { createClient } from '../../src/platforms/telegram/client.ts'
import { recognizeOwnActions } from '../../src/platforms/telegram/intake.ts'
import { noPeers } from '../../src/platforms/telegram/storage/peers.ts'
import { SessionStorage } from '../../src/platforms/telegram/storage/session-storage.ts'
import { UpdateState } from '../../src/platforms/telegram/storage/update-state.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { patience } from './contract/recorder.ts'
import { perform, refusalOf, sending } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { application, Stage } from './telegram/stage.ts'

t.test('an account of Telegram', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage

  await t.test('is not told what it sent when that is listed with what it missed', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const session = await listen()
    write('before')
    await store.message('before')
    person.isAnsweredShortly = true
    person.isHushed = true
    write('unheard')
    person.isHushed = false
    await perform(session, sending(`${friend.id}`, 'own'))
    await store.message('unheard')
    write('after')
    await store.message('after')
    t.strictSame(store.texts(), ['before', 'unheard', 'after'])
  })

  await t.test(
    'sends a text without the white space around it, and finds it again so',
    async (t) => {
      const { person, friend, listen, write, store } = await live(t, stage, {
        answerMilliseconds: 1_000,
      })
      const session = await listen()
      write('hello')
      await store.message('hello')
      const entities = [{ type: 'bold', offset: 2, length: 4 }]
      // The last space is one that the network leaves.
      const content = { kind: 'text', text: ' \n bold text\u00a0 ', entities } as const
      const padded = { kind: 'send', chat: `${friend.id}`, content } as const
      const seen = { text: /^bold text\u00a0$/, entities: [{ type: 'bold', offset: 0, length: 3 }] }
      t.match(await perform(session, padded), { message: { content: seen } })
      person.isAnsweredShortly = true
      t.match(await perform(session, padded), { message: { content: seen } })
      person.isAnsweredShortly = false
      person.lostAnswers = 1
      const requestId = crypto.randomUUID()
      t.match(await refusalOf(perform(session, padded, requestId)), { code: 'timeout' })
      t.match(await perform(session, padded, requestId), { message: { content: seen } })
      t.equal(friend.messages.size, 4, 'it was sent thrice')
    },
  )

  await t.test(
    'is told what others posted beside its own, also where nothing is recovered',
    async (t) => {
      const { person, friend, store, open } = await live(t, stage)
      const channel = network.channel(person, [friend])
      const post = (message: string) => network.delivery.send(friend, channel, { message })
      const session = await open({ recoverChannels: false })
      await session.session.probe(patience())
      post('before')
      await store.message('before')
      person.isHushed = true
      post('unheard')
      person.isHushed = false
      await perform(session, sending(nativeOfPlace(channel), 'own'))
      await store.message('unheard')
      post('after')
      await store.message('after')
      t.strictSame(store.texts(), ['before', 'unheard', 'after'])
    },
  )

  await t.test('commits nothing for what is no event, as that somebody types', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const { session } = await listen()
    write('before')
    await store.message('before')
    const commit = store.commit.bind(store)
    let commits = 0
    store.commit = (...given) => {
      commits += 1
      commit(...given)
    }
    const action = { _: 'sendMessageTypingAction' } as const
    network.delivery.tell(person, { _: 'updateUserTyping', userId: friend.id, action })
    // Its answer comes after the news.
    await session.probe(patience())
    write('after')
    await store.message('after')
    t.equal(commits, 1)
  })
})

t.test('the numbers of what was done are forgotten once they are counted', async (t) => {
  const state = new UpdateState(null)
  const storage = new SessionStorage({ state, peers: noPeers })
  const client = createClient({ application, storage, updates: true, defect: t.error })
  recognizeOwnActions(client)
  const updates = client.updates!
  const done = (pts: number, id: number) =>
    updates._addToNoDispatchIndex({
      ...{ _: 'updateShortSentMessage', out: true, id, date: 1, pts, ptsCount: 1 },
    })
  for (let i = 1; i <= 100; i++) done(i, i)
  updates.pts = 60
  await updates._saveUpdatesStorage()
  t.equal(updates.noDispatchPts.get(0)?.size, 40)
  t.equal(updates.noDispatchMsg.get(0)?.size, 100, 'which message is which is not known')
  updates.pts = 100
  await updates._saveUpdatesStorage()
  t.equal(updates.noDispatchPts.size, 0)
  t.equal(updates.noDispatchMsg.size, 0)
})

t.test('what nobody waits for any more is news', async (t) => {
  const state = new UpdateState(null)
  const storage = new SessionStorage({ state, peers: noPeers })
  const client = createClient({ application, storage, updates: true, defect: t.error })
  const answer = { _: 'updateShortSentMessage', out: true, id: 5, date: 1, pts: 5, ptsCount: 1 }
  client.mt.call = async () => answer as never
  recognizeOwnActions(client)
  const request = { _: 'updates.getState' } as const
  await client.mt.call(request, { abortSignal: AbortSignal.abort() })
  t.equal(client.updates?.noDispatchMsg.size, 0)
  await client.mt.call(request, { abortSignal: new AbortController().signal })
  t.ok(client.updates?.noDispatchMsg.get(0)?.has(5))
})
