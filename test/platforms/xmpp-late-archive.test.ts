/** A message that the server neither sends nor shows when the account comes, but only keeps in the archive, is found. */
import t, { type Test } from 'tap'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { quietLogger } from '../support/logger.ts'
import { type Question, startXmppStub } from '../support/xmpp-stub.ts'
import { run, Store } from './contract/recorder.ts'
import { linked } from './contract/scene.ts'
import { Files } from './xmpp/files.ts'
import { MemoryRooms } from './xmpp/kept-rooms.ts'

const jid = 'ada@stub.test'
const now = () => Math.floor(Date.now() / 1000)

interface Stored {
  readonly id: string
  readonly text: string
}

const message = ({ id, text }: Stored) =>
  `<message xmlns="jabber:client" type="chat" to="${jid}" from="bob@stub.test/phone" id="the-message-numbered-${id}">
    <stanza-id xmlns="urn:xmpp:sid:0" by="${jid}" id="${id}"/><body>${text}</body></message>`

/** What the archive answers, its messages in the order of their ids. */
function answerOf(archive: readonly Stored[], { id, text }: Question): string {
  const query = /queryid="([^"]+)"/.exec(text)?.[1]
  const after = /<after>([^<]*)</.exec(text)?.[1] ?? ''
  const stored = archive.toSorted((a, b) => Number(a.id) - Number(b.id))
  const found = text.includes('<before/>')
    ? stored.slice(-1)
    : stored.filter((each) => Number(each.id) > Number(after))
  const results = found.map(
    (
      each,
    ) => `<message from="${jid}"><result xmlns="urn:xmpp:mam:2" queryid="${query}" id="${each.id}">
      <forwarded xmlns="urn:xmpp:forward:0"><delay xmlns="urn:xmpp:delay" stamp="${new Date().toISOString()}"/>
      ${message(each)}</forwarded></result></message>`,
  )
  const fin = '<fin xmlns="urn:xmpp:mam:2" complete="true"/>'
  return `${results.join('')}<iq type="result" id="${id}">${fin}</iq>`
}

/** A session whose account has stored all up to the message `1`. */
async function opened(t: Test, parts: Parameters<typeof startXmppStub>[1]) {
  const { server, stop } = await startXmppStub(jid, parts)
  const platform = xmppPlatform({
    logger: quietLogger,
    allowPrivate: true,
    media: new Files(),
    rooms: new MemoryRooms(),
  })
  const fields = { jid, password: 'secret', server }
  const store = new Store(await linked(platform, { native: jid, method: 'password', fields }))
  store.checkpoint = { mam: '1', at: now() }
  const session = run(platform, store)
  t.teardown(async () => {
    await session.stop()
    await stop()
  })
  return { store, session }
}

for (const newest of ['1', '2']) {
  t.test(`before the presence the archive is read if there is more: up to ${newest}`, async (t) => {
    const archive = ['1', '2'].slice(0, Number(newest)).map((id) => ({ id, text: `of ${id}` }))
    const questions: string[] = []
    const { store } = await opened(t, {
      answer(question) {
        if (question.text.includes('urn:xmpp:carbons:2')) questions.push('carbons')
        if (!question.text.includes('urn:xmpp:mam:2')) return undefined
        questions.push(question.text.includes('<after>') ? 'after' : 'newest')
        return answerOf(archive, question)
      },
      present(write) {
        archive.push({ id: '3', text: 'sent' })
        write(message({ id: '3', text: 'sent' }))
      },
    })
    await store.message('sent')
    const before = newest === '1' ? [] : ['after']
    const inTurn = ['newest', ...before, 'carbons', 'after']
    t.strictSame(questions.slice(0, inTurn.length), inTurn)
    t.strictSame(store.texts(), newest === '1' ? ['sent'] : ['of 2', 'sent'])
  })
}

for (const refusals of [0, 1]) {
  const title = refusals === 0 ? 'once it is there' : 'also when the archive refuses once'
  t.test(title, async (t) => {
    const archive: Stored[] = [{ id: '1', text: 'of before' }]
    let isPresent = false
    let toRefuse = refusals
    const { store, session } = await opened(t, {
      answer: (question) => {
        if (!question.text.includes('urn:xmpp:mam:2')) return undefined
        if (!isPresent || toRefuse-- <= 0) return answerOf(archive, question)
        const error = 'internal-server-error xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"'
        return `<iq type="error" id="${question.id}"><error type="wait"><${error}/></error></iq>`
      },
      // The answer to the question that comes with the presence is given by then.
      present: (write) =>
        setTimeout(() => {
          isPresent = true
          archive.push({ id: '3', text: 'sent' })
          write(message({ id: '3', text: 'sent' }))
          archive.push({ id: '2', text: 'only kept' })
        }, 300),
    })
    await store.message('sent')
    t.match(store.checkpoint, { mam: /^3$/ }, 'the checkpoint is past it')
    t.notOk(store.texts().includes('only kept'))
    await store.message('only kept')
    t.strictSame(store.texts(), ['sent', 'only kept'])
    t.strictSame(
      session.reports.map(([name]) => name),
      ['opened'],
    )
  })
}
