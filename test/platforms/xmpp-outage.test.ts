/** Broken connections: short ones are resumed, long ones caught up, and in neither is anything lost or doubled. */
import t from 'tap'
import { quietLogger } from '../support/logger.ts'
import type { SlixmppClient } from '../support/slixmpp.ts'
import { patience, run, Store } from './contract/recorder.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { Network, type XmppAccount } from './xmpp/network.ts'
import { scene, stopArchive } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const log = (notes: string[]) => ({
  ...quietLogger,
  info: (_facts: object, text: string) => notes.push(text),
  warn: (_facts: object, text: string) => notes.push(text),
})

t.test('XMPP outages', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  /** The server ends, and forgets streams, before the account hears what became of its messages. */
  async function restartUnheard({ relay }: XmppAccount) {
    relay.block()
    relay.cut()
    await network.server.kill()
    await network.server.up()
    relay.unblock()
  }

  await t.test('a cut is resumed and what was sent meanwhile arrives once', async (t) => {
    const notes: string[] = []
    const { account, friend, chat, store, first } = await scene(t, network, { logger: log(notes) })
    account.relay.cut()
    const theirs = ['one', 'two', 'three']
    for (const text of theirs) friend.send(account.jid, text)
    const ours = ['four', 'five']
    await Promise.all(ours.map((text) => sent(first, chat, text)))
    await store.message('three')
    t.ok(notes.includes('the stream was resumed'))
    t.strictSame(textsOf(store), theirs)
    await friend.sees(({ body }) => body === 'five')
    t.strictSame(bodiesOf(friend), ours)
    t.notOk(first.reports.some(([report]) => report === 'lost'))
  })

  await t.test('what the server repeats at once after a resumption is not lost', async (t) => {
    const { account, friend, store, first } = await scene(t, network)
    account.relay.block()
    account.relay.cut()
    for (const text of ['one', 'two', 'three']) await delivered(friend, account.jid, text)
    account.relay.unblock()
    await store.message('three')
    t.strictSame(textsOf(store), ['one', 'two', 'three'])
    t.notOk(first.reports.some(([report]) => report === 'lost'))
  })

  await t.test('a message that was cut in two arrives whole, once', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    account.relay.cutWithin(120)
    await delivered(friend, account.jid, 'سلام '.repeat(200))
    friend.send(account.jid, 'after it')
    await store.message('after it')
    t.strictSame(textsOf(store), ['سلام '.repeat(200), 'after it'])
    await sent(first, chat, 'still here')
    t.notOk(first.reports.some(([report]) => report === 'lost'))
  })

  await t.test('when the resumption is refused the archive has what was missed', async (t) => {
    const notes: string[] = []
    const { account, friend, chat, store, first } = await scene(t, network, { logger: log(notes) })
    account.relay.block()
    account.relay.cut()
    await delivered(friend, account.jid, 'one')
    const waiting = sent(first, chat, 'from below')
    // A server that starts anew knows no streams of before.
    await network.server.kill()
    await network.server.up()
    await delivered(friend, account.jid, 'two')
    account.relay.unblock()
    await waiting
    await store.message('two')
    friend.send(account.jid, 'three')
    await store.message('three')
    t.notOk(notes.includes('the stream was resumed'))
    t.strictSame(textsOf(store), ['one', 'two', 'three'])
    await friend.sees(({ body }) => body === 'from below')
    t.strictSame(bodiesOf(friend), ['from below'])
    t.notOk(first.reports.some(([report]) => report === 'lost'))
  })

  await t.test('whoever was taken over during a cut does not fight for it', async (t) => {
    const { account, friend, store, first } = await scene(t, network)
    account.relay.block()
    account.relay.cut()
    // The other one connects besides the line that is cut.
    const secrets = { ...(store.secrets as object), server: network.server.server }
    const other = run(network.platform(), new Store({ identity: store.identity, secrets }))
    t.teardown(() => other.stop())
    await other.reported('opened')
    account.relay.unblock()
    await first.reported('replaced')
    friend.send(account.jid, 'to the other')
    await other.store.message('to the other')
    t.strictSame(
      other.reports.map(([report]) => report),
      ['opened'],
    )
  })

  await t.test('a cut for longer than a resumption may take is reported', async (t) => {
    const { account, first } = await scene(t, network, { resumeMilliseconds: 300 })
    account.relay.block()
    account.relay.cut()
    await first.reported('lost')
    t.match(await first.session.probe(patience()).catch((cause) => cause), Error)
  })

  await t.test('a message whose acknowledgement was lost is found in the archive', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    account.relay.holdAnswers(60_000)
    const sending = sent(first, chat, 'into the void')
    await friend.sees(({ body }) => body === 'into the void')
    await restartUnheard(account)
    t.match(await sending, { content: { text: 'into the void' } })
    friend.send(account.jid, 'still here')
    await store.message('still here')
    t.strictSame(bodiesOf(friend), ['into the void'])
    t.strictSame(textsOf(store), ['still here'])
  })

  for (const others of ['never', 'roster'] as const) {
    await t.test(
      `nor is it sent again where the archive was told to leave it out: ${others}`,
      async (t) => {
        const all = await scene(t, network)
        const { account, friend, chat, first } = all
        await stopArchive(network, all, others)
        account.relay.holdAnswers(60_000)
        const refusal = refusalOf(perform(first, sending(chat, 'into the void')))
        await friend.sees(({ body }) => body === 'into the void')
        await restartUnheard(account)
        t.match(await refusal, { code: 'unavailable', certain: false })
        await sent(first, chat, 'still here')
        await friend.sees(({ body }) => body === 'still here')
        t.strictSame(bodiesOf(friend).slice(1), ['into the void', 'still here'])
      },
    )
  }

  await t.test('nor is it sent again when something came after it', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    // The session is through with its beginning, which would find the message by itself.
    friend.send(account.jid, 'anything new?')
    await store.message('anything new?')
    account.relay.swallow(/<a [^>]*>/g)
    const sending = sent(first, chat, 'a question')
    await friend.sees(({ body }) => body === 'a question')
    friend.send(account.jid, 'an answer')
    await store.message('an answer')
    await restartUnheard(account)
    await sending
    t.match(await sent(first, chat, 'another question'), { from: { native: account.jid } })
    await friend.sees(({ body }) => body === 'another question')
    t.strictSame(bodiesOf(friend), ['a question', 'another question'])
  })

  await t.test('a restart of the server is survived within the session', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    await network.server.kill()
    const waiting = sent(first, chat, 'during the restart')
    await network.server.up()
    await waiting
    friend.send(account.jid, 'after the restart')
    await store.message('after the restart')
    t.strictSame(textsOf(store), ['after the restart'])
    await friend.sees(({ body }) => body === 'during the restart')
    t.strictSame(bodiesOf(friend), ['during the restart'])
  })

  await t.test('a session whose events are not stored ends, and says so', async (t) => {
    const { account, friend, store, first, open } = await scene(t, network)
    store.failing = 1
    friend.send(account.jid, 'refused at first')
    t.strictSame(await first.reported('lost'), ['events_not_stored', undefined])
    await open()
    await store.message('refused at first')
  })

  await t.test('what the session cannot send in time certainly was not sent', async (t) => {
    const { account, chat, first } = await scene(t, network, { confirmMilliseconds: 300 })
    account.relay.block()
    account.relay.cut()
    const outcome = await perform(first, sending(chat, 'never')).catch((cause) => cause)
    t.match(outcome, { failure: { code: 'unavailable' } })
    t.not(outcome.failure.certain, false)
  })
})

/** Resolves once the server has it: it handles the stanzas of one client in their order. */
async function delivered(friend: SlixmppClient, to: string, text: string) {
  friend.send(to, text)
  const id = friend.send(friend.jid, 'a note to oneself')
  await friend.sees((seen) => seen.id === id)
}

const textsOf = (store: { texts(): string[] }) => store.texts().slice(1)

const bodiesOf = ({ jid, seen }: SlixmppClient) =>
  seen.flatMap(({ from, body }) => (from === jid ? [] : (body ?? [])))
