/** Broken connections: short ones are resumed, long ones caught up, and in neither is anything lost or doubled. */
import { once } from 'node:events'
import t from 'tap'
import { prosodyMissing } from '../support/prosody.ts'
import { patience } from './contract/recorder.ts'
import { perform, sending, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'

const log = (notes: string[]) => ({
  info: (_facts: object, text: string) => notes.push(text),
  warn: (_facts: object, text: string) => notes.push(text),
})

t.test('XMPP outages', { skip: prosodyMissing ?? false }, async (t) => {
  const network = await Network.start(t, { hibernationSeconds: 1 })

  await t.test('a cut is resumed and what was sent meanwhile arrives once', async (t) => {
    const notes: string[] = []
    const { account, friend, chat, store, first } = await scene(t, network, { log: log(notes) })
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

  await t.test('when the resumption is refused the archive has what was missed', async (t) => {
    const notes: string[] = []
    const { account, friend, chat, store, first } = await scene(t, network, { log: log(notes) })
    account.relay.block()
    account.relay.cut()
    friend.send(account.jid, 'one')
    const waiting = sent(first, chat, 'from below')
    await friend.until(() => true)
    // Longer than the server keeps the stream.
    await once(AbortSignal.timeout(2_500), 'abort')
    friend.send(account.jid, 'two')
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
    account.relay.block()
    account.relay.cut()
    await once(AbortSignal.timeout(2_500), 'abort')
    account.relay.unblock()
    t.match(await sending, { content: { text: 'into the void' } })
    friend.send(account.jid, 'still here')
    await store.message('still here')
    t.strictSame(bodiesOf(friend), ['into the void'])
    t.strictSame(textsOf(store), ['still here'])
  })

  await t.test('a restart of the server is survived within the session', async (t) => {
    const { account, friend, chat, store, first } = await scene(t, network)
    await network.prosody.kill()
    const waiting = sent(first, chat, 'during the restart')
    await network.prosody.up()
    await waiting
    friend.send(account.jid, 'after the restart')
    await store.message('after the restart')
    t.strictSame(textsOf(store), ['after the restart'])
    await friend.sees(({ body }) => body === 'during the restart')
    t.strictSame(bodiesOf(friend), ['during the restart'])
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

const textsOf = (store: { texts(): string[] }) => store.texts().slice(1)

const bodiesOf = (friend: { seen: readonly { body: string | null }[] }) =>
  friend.seen.flatMap(({ body }) => body ?? [])
