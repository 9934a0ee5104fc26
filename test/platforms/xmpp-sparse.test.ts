/** What an account can do on a server that knows little beyond messages, and what it is told of the rest. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { Archive } from '../../src/platforms/xmpp/archive.ts'
import { nicknameOf } from '../../src/platforms/xmpp/contact.ts'
import { enableCarbons, Requests } from '../../src/platforms/xmpp/requests.ts'
import { bookmarks } from '../../src/platforms/xmpp/rooms/bookmarks.ts'
import { sparseXmppServers } from '../support/xmpp-servers.ts'
import { patience, run } from './contract/recorder.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'

for (const { name, skip, start } of sparseXmppServers) {
  t.test(name, { skip }, async (t) => {
    const network = Network.over(t, await start())

    await t.test('people and the account correct, answer, retract and read', async (t) => {
      const { account, friend, chat, store, first } = await scene(t, network)
      const question = friend.send(account.jid, 'a qestion')
      await store.message('a qestion')
      friend.correct(account.jid, question, 'a question')
      await store.until(() => store.happenings.find(({ kind }) => kind === 'edited'))
      const { native } = await sent(first, chat, 'an answer', { replyTo: question })
      t.equal((await friend.sees(({ body }) => body === 'an answer')).replyTo, question)
      friend.reply(account.jid, native, 'thanks')
      t.match(await store.message('thanks'), { message: { replyTo: { native } } })
      friend.confirm(account.jid, native, 'displayed')
      await store.until(() => store.happenings.find(({ kind }) => kind === 'receipt'))
      friend.retract(account.jid, question)
      const gone = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
      t.match(gone, { chat, messages: [question] })
      const edit = {
        kind: 'edit',
        chat,
        message: native,
        content: text('a better answer'),
      } as const
      await perform(first, edit)
      await friend.sees(({ replaces, body }) => replaces === native && body === 'a better answer')
      await perform(first, { kind: 'delete', chat, message: native })
      await friend.sees(({ retracts }) => retracts === native)
    })

    await t.test('what the server cannot do is told as such', async (t) => {
      const { account, friend, chat, store, first } = await scene(t, network)
      const message = friend.send(account.jid, 'to be passed on')
      await store.message('to be passed on')
      const none = { code: 'bad_request', description: 'the server keeps no history of the chat' }
      const failure = (operation: Parameters<typeof perform>[1]) =>
        refusalOf(perform(first, operation))
      t.match(await failure({ kind: 'forward', chat, from: chat, message }), none)
      t.match(await failure({ kind: 'copy', chat, from: chat, message }), none)
      t.match(await failure({ kind: 'read_history', chat, limit: 5 }), none)
      const media = await network.files.add('photo')
      const content = { kind: 'media', media, caption: { text: '', entities: [] } } as const
      t.match(await failure({ kind: 'send', chat, content }), {
        code: 'bad_request',
        description: 'the server of the account takes no files',
      })
      t.match(await failure(sending('room@rooms.xmpp.test', 'x')), { reason: 'chat_not_found' })
      t.match(await failure(sending('nobody@xmpp.test', 'x')), { reason: 'chat_not_found' })
      t.ok(await first.session.probe(patience()))
    })

    await t.test('a message that the server falls silent over may have been sent', async (t) => {
      const { chat, first } = await scene(t, network)
      // More than the 64 KB of a stanza that it takes; of a larger one it says nothing, nor of anything after it.
      const failure = await refusalOf(perform(first, sending(chat, 'سلام '.repeat(8_000))))
      t.match(failure, { code: 'timeout', certain: false })
    })

    await t.test('a stored session that is opened elsewhere takes this one over', async (t) => {
      const { chat, friend, store, first } = await scene(t, network)
      const second = run(network.platform(), store)
      t.teardown(() => second.stop())
      await second.reported('opened')
      await first.reported('replaced')
      t.notOk(first.reports.some(([report]) => report === 'lost'))
      await sent(second, chat, 'from elsewhere')
      await friend.sees(({ body }) => body === 'from elsewhere')
    })

    await t.test('what was sent before an end of the service may be sent again', async (t) => {
      const { chat, first } = await scene(t, network)
      const again = first.session.perform(sending(chat, 'again'), randomUUID(), patience(), true)
      t.match(await refusalOf(again), { code: 'unavailable', certain: false })
    })
  })
}

const text = (value: string) => ({ kind: 'text' as const, text: value, entities: [] })

/** Half of an extension is there: the server takes the question, and says nothing. */
const silence = () => Promise.reject(new DOMException('nothing was said', 'TimeoutError'))

t.test('questions that some servers leave without an answer hold nothing up', async (t) => {
  const requests = Object.assign(new Requests('me@here.test', async () => undefined), {
    ask: silence,
  })
  t.equal(await enableCarbons(requests, patience()), false)
  t.same(await bookmarks(requests, patience()), [])
  t.equal(await nicknameOf(requests, undefined, patience()), undefined)
  const keeps = await new Archive('me@here.test', 'me@here.test', requests).policy(patience())
  t.equal(keeps('ada@there.test'), undefined, 'nobody tells what it keeps')
})
