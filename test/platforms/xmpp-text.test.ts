/** What is written arrives as it was written, in both directions, over a real server. */
import t from 'tap'
import { patience } from './contract/recorder.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const long = 'سلام دنیا '.repeat(6_000)
const text = (value: string) => ({ kind: 'text' as const, text: value, entities: [] })

t.test('XMPP text', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  await t.test('a long text in two-byte letters arrives whole from the other side', async (t) => {
    const { friend, account, store } = await scene(t, network)
    friend.send(account.jid, long)
    t.ok(await store.message(long))
  })

  await t.test('a long text in two-byte letters arrives whole on the other side', async (t) => {
    const { friend, chat, first } = await scene(t, network)
    await sent(first, chat, long)
    t.ok(await friend.sees(({ body }) => body === long))
  })

  await t.test('characters that XML cannot hold do not end the stream', async (t) => {
    const { friend, chat, first } = await scene(t, network)
    await sent(first, chat, 'a\u0000b\u0008c\uD800d <&> "e"')
    t.ok(await friend.sees(({ body }) => body === 'a\uFFFDb\uFFFDc\uFFFDd <&> "e"'))
    t.ok(await first.session.probe(patience()))
  })

  await t.test('a text beyond the size of a stanza is refused, and the stream lives', async (t) => {
    const { chat, first } = await scene(t, network)
    const failure = await refusalOf(perform(first, sending(chat, '<'.repeat(65_000))))
    t.match(failure, { code: 'bad_request', description: 'message is too long' })
    t.ok(await first.session.probe(patience()))
  })

  await t.test('the quotation in an answer is not its text', async (t) => {
    const { friend, account, chat, first, store } = await scene(t, network)
    const { native } = await sent(first, chat, 'question')
    friend.reply(account.jid, native, 'answer')
    t.match(await store.message('answer'), { message: { replyTo: { native } } })
  })

  await t.test('formatting goes both ways', async (t) => {
    const { friend, account, chat, first, store } = await scene(t, network)
    const entities = [{ type: 'bold', offset: 0, length: 4 }]
    const formatted = { kind: 'text' as const, text: 'bold 2*3', entities }
    const message = await perform(first, { kind: 'send', chat, content: formatted })
    t.match(message, { message: { content: formatted } })
    await friend.sees(({ body }) => body === '*bold* 2*3')
    friend.send(account.jid, 'so _it_ is')
    t.match(await store.message('so it is'), {
      message: { content: { entities: [{ type: 'italic', offset: 3, length: 2 }] } },
    })
    friend.send(account.jid, '*as is*', ['{urn:xmpp:styling:0}unstyled', {}])
    t.match(await store.message('*as is*'), { message: { content: { entities: { length: 0 } } } })
  })

  await t.test('a message of a long name can be passed on', async (t) => {
    const { friend, account, chat, first, store } = await scene(t, network)
    friend.sendNamed(account.jid, 'name'.repeat(1_000), 'of a long name')
    const told = await store.message('of a long name')
    const message = 'message' in told ? (told.message?.native ?? '') : ''
    const copied = await perform(first, { kind: 'copy', chat, from: chat, message })
    t.match(copied, { message: { content: { text: 'of a long name' } } })
  })

  await t.test('what is passed on is the message as it stands', async (t) => {
    const { friend, account, chat, first, store } = await scene(t, network)
    const id = friend.send(account.jid, 'mistaken')
    friend.correct(account.jid, id, '*corrected*')
    await store.message('corrected', 'edited')
    const copy = { kind: 'copy', chat, from: chat, message: id } as const
    t.match(await perform(first, copy), { message: { content: { text: 'corrected' } } })
    const forward = await perform(first, { ...copy, kind: 'forward' })
    t.match(forward, { message: { forward: { from: 'person', person: { native: chat } } } })
    await friend.sees(({ body, forwarded }) => body === '*corrected*' && forwarded)
    friend.retract(account.jid, id)
    await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
    t.match(await refusalOf(perform(first, copy)), {
      code: 'bad_request',
      description: 'message to copy not found',
    })
  })

  await t.test('a receipt is sent once the message is stored', async (t) => {
    const { friend, account, store } = await scene(t, network)
    const id = friend.send(account.jid, 'registered', ['{urn:xmpp:receipts}request', {}])
    await friend.sees(({ received }) => received === id)
    t.ok(store.texts().includes('registered'))
  })

  await t.test('a message of an earlier session can still be changed', async (t) => {
    const { friend, chat, first, open } = await scene(t, network)
    const { native } = await sent(first, chat, 'before')
    await first.stop()
    const second = await open()
    const edit = { kind: 'edit', chat, message: native, content: text('after') } as const
    t.match(await perform(second, edit), { message: { native, content: { text: 'after' } } })
    await friend.sees(({ replaces, body }) => replaces === native && body === 'after')
    await perform(second, { kind: 'delete', chat, message: native })
    t.ok(await friend.sees(({ retracts }) => retracts === native))
  })

  await t.test('what others wrote cannot be changed, nor what was never written', async (t) => {
    const { friend, account, chat, first, store } = await scene(t, network)
    const foreign = friend.send(account.jid, 'mine')
    await store.message('mine')
    const change = async (message: string) => [
      await refusalOf(perform(first, { kind: 'edit', chat, message, content: text('yours') })),
      await refusalOf(perform(first, { kind: 'delete', chat, message })),
    ]
    t.match(await change(foreign), [
      { code: 'bad_request', description: "message can't be edited" },
      { code: 'bad_request', description: "message can't be deleted" },
    ])
    t.match(await change('no-such-message'), [
      { code: 'bad_request', description: 'message to edit not found' },
      { code: 'bad_request', description: 'message to delete not found' },
    ])
  })

  await t.test('typing that is taken back ends', async (t) => {
    const { friend, chat, first } = await scene(t, network)
    for (const action of ['upload_photo', 'cancel'])
      await perform(first, { kind: 'act', chat, action })
    await sent(first, chat, 'never mind')
    await friend.sees(({ body }) => body === 'never mind')
    const states = friend.seen.map(({ state }) => state).filter((state) => state !== null)
    t.same(states, ['composing', 'active', 'active'], 'the last one comes with the text')
  })

  await t.test('others cannot change what the account wrote', async (t) => {
    const { friend, account, chat, first, store } = await scene(t, network)
    const { native } = await sent(first, chat, 'original')
    friend.correct(account.jid, native, 'forged')
    friend.retract(account.jid, native)
    friend.send(account.jid, 'done')
    await store.message('done')
    t.strictSame(store.texts('edited'), [])
    t.notOk(store.happenings.some(({ kind }) => kind === 'deleted'))
  })

  await t.test('an address that cannot be one is no chat', async (t) => {
    const { first } = await scene(t, network)
    for (const chat of ['', 'nobody', '@xmpp.test', 'a b@xmpp.test', 'a@b@c', 'a@xmpp.test/x']) {
      const failure = await refusalOf(perform(first, sending(chat, 'x')))
      t.match(failure, { code: 'bad_request', description: 'chat not found' }, chat)
    }
  })
})
