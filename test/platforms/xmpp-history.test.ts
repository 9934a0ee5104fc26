/** Chats and rooms read back out of the archives of servers: as messages stand now, under the ids they were told by. */
import t from 'tap'
import type { PastMessage } from '../../machines/model/operation-reading.ts'
import { patience, type Run } from './contract/recorder.ts'
import { perform, refusalOf, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const { skip } = serverUnderTest()

async function history(run: Run, chat: string, more: object = {}): Promise<readonly PastMessage[]> {
  const result = await perform(run, { kind: 'read_history', chat, limit: 100, ...more })
  if (result.kind !== 'history') throw new Error('no history')
  return result.messages
}

const textsOf = (messages: readonly PastMessage[]) =>
  messages.map(({ message }) => (message.content.kind === 'text' ? message.content.text : ''))

t.test('XMPP history', { skip }, async (t) => {
  const network = await Network.start(t)

  await t.test('corrections and retractions of messages are applied', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    const wrong = friend.send(account.jid, 'wrong')
    friend.correct(account.jid, wrong, 'less wrong')
    friend.correct(account.jid, wrong, 'right')
    const gone = friend.send(account.jid, 'gone')
    friend.retract(account.jid, gone)
    friend.send(account.jid, 'last')
    await store.message('last')
    const past = await history(first, chat)
    t.strictSame(textsOf(past), ['last', 'right', 'the first words'])
    t.match(past[1], { isOwn: false, message: { native: wrong, editedAt: Number } })
  })

  await t.test('pages follow each other, in another session, too', async (t) => {
    const { account, friend, chat, store, first, open } = await scene(t, network)
    const own = await sent(first, chat, 'mine')
    const words = Array.from({ length: 7 }, (_, index) => `word ${index}`)
    for (const body of words) friend.send(account.jid, body)
    await store.message(words.at(-1)!)
    const expected = [...words.toReversed(), 'mine', 'the first words']
    const pages = async (run: Run, limit: number) => {
      const all: PastMessage[] = []
      for (;;) {
        const message = all.at(-1)?.message.native
        const page = await history(run, chat, { limit, ...(message && { message }) })
        if (page.length === 0) return all
        all.push(...page)
      }
    }
    const whole = await pages(first, 2)
    t.strictSame(textsOf(whole), expected)
    t.match(whole[7], { isOwn: true, message: { native: own.native } })
    const told = await store.message('word 3')
    const { native } = told.kind === 'message' ? told.message : { native: '' }
    t.equal(whole[3]?.message.native, native)
    await first.stop()
    const again = await open()
    const from = await history(again, chat, { limit: 2, message: native })
    t.strictSame(textsOf(from), ['word 2', 'word 1'], 'what no session remembers is found')
    const failure = await refusalOf(history(again, chat, { message: 'nothing-goes-by-this-id' }))
    t.match(failure, { code: 'bad_request', description: 'message to go back from not found' })
  })

  await t.test('a room is read back, and what is found there can be edited', async (t) => {
    const { account, friend, first, open, chat } = await scene(t, network)
    const room = `${account.user}-history@rooms.xmpp.test`
    await friend.join(room, 'friend')
    const hello = await sent(first, room, 'hello')
    friend.send(room, 'welcome')
    await friend.sees(({ body }) => body === 'welcome')
    const past = await history(first, room)
    t.strictSame(textsOf(past), ['welcome', 'hello'])
    t.match(past, [
      { isOwn: false, message: { chat: { native: room }, from: { native: chat } } },
      { isOwn: true, message: { native: hello.native } },
    ])
    await first.stop()
    const again = await open()
    const [, mine] = await history(again, room)
    const content = { kind: 'text' as const, text: 'hello all', entities: [] }
    const message = mine?.message.native ?? ''
    await perform(again, { kind: 'edit', chat: room, message, content })
    t.strictSame(textsOf(await history(again, room)), ['welcome', 'hello all'])
  })

  await t.test('contacts, rooms and strangers who wrote are the chats', async (t) => {
    const { account, friend, first, chat } = await scene(t, network)
    const phone = await network.device(account)
    await phone.ask(
      account.jid,
      '<query xmlns="jabber:iq:roster"><item jid="aunt@xmpp.test" name="Aunt"/></query>',
    )
    const room = `${account.user}-list@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'in the room')
    const list = async (more: object = {}) => {
      const result = await perform(first, { kind: 'list_chats', limit: 10, ...more })
      if (result.kind !== 'chats') throw new Error('no chats')
      return result
    }
    const { chats } = await list()
    t.strictSame(
      new Set(chats.map((one) => one.chat.native)),
      new Set([chat, room, 'aunt@xmpp.test']),
    )
    t.match(chats.at(-1), { chat: { native: 'aunt@xmpp.test', firstName: 'Aunt' } })
    t.match(
      chats.find((one) => one.chat.native === room),
      { chat: { surface: 'supergroup' }, last: { isOwn: true } },
    )
    t.match(
      chats.find((one) => one.chat.native === chat),
      { last: { isOwn: false, message: { content: { text: 'the first words' } } } },
    )
    const one = await list({ limit: 2 })
    const two = await list({ limit: 2, after: one.next })
    t.strictSame([...one.chats, ...two.chats], chats)
    t.match(await refusalOf(list({ after: 'x' })), { description: 'OFFSET_INVALID' })
  })

  await t.test('a marker tells the writer what was read', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    const [one, two] = ['one', 'two'].map((body) => friend.send(account.jid, body))
    await store.message('two')
    const own = await sent(first, chat, 'mine')
    const reads = (message?: string) =>
      perform(first, { kind: 'mark_read', chat, ...(message && { message }) })
    await reads(one)
    await friend.sees(({ displayed }) => displayed === one, patience())
    await reads(own.native)
    await friend.sees(({ displayed }) => displayed === two, patience())
    t.match(await refusalOf(reads('nothing-goes-by-this-id')), {
      description: 'message to read not found',
    })
  })
})

t.test('without an archive there are chats but no history', { skip }, async (t) => {
  const network = await Network.start(t, { withoutArchive: true })
  const { first, chat } = await scene(t, network)
  t.match(await perform(first, { kind: 'list_chats', limit: 10 }), { kind: 'chats' })
  t.match(await refusalOf(history(first, chat)), {
    code: 'bad_request',
    description: 'the server keeps no history of the chat',
  })
})
