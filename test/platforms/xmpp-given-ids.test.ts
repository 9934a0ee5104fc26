/** A room that keeps nothing may still give ids to what is said in it (Openfire): others name a message by them. */
import { type Element, xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import type { IncomingMessage } from '../../src/platforms/xmpp/delivery.ts'
import { Room, type RoomParts, type RoomState } from '../../src/platforms/xmpp/rooms/room.ts'
import { until } from '../support/client.ts'
import { type Question, startXmppStub } from '../support/xmpp-stub.ts'
import { run, Store } from './contract/recorder.ts'
import { linked, perform, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'

const jid = 'ada@stub.test'
const room = 'room@rooms.stub.test'
const muc = 'http://jabber.org/protocol/muc'

function factsOf({ id, text, to }: Question, features: readonly string[]): string | undefined {
  if (!text.includes('disco#info')) {
    // There is no archive.
    const error = '<item-not-found xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/>'
    return `<iq type="error" id="${id}"><error type="cancel">${error}</error></iq>`
  }
  const facts = [muc, 'muc_nonanonymous', ...features].map((name) => `<feature var="${name}"/>`)
  return `<iq type="result" id="${id}" from="${to}"><query xmlns="http://jabber.org/protocol/disco#info">
    <identity category="conference" type="text"/>${facts.join('')}</query></iq>`
}

/** What is said in the room has the id `of-room-` and its own, as the room gives it or as somebody made it up. */
async function inRoom(t: Test, features: readonly string[]) {
  const asked: string[] = []
  let write: (text: string) => void = () => undefined
  const says = (nick: string, id: string, words: string) =>
    write(`<message xmlns="jabber:client" type="groupchat" from="${room}/${nick}" id="${id}">${words}
      <stanza-id xmlns="urn:xmpp:sid:0" by="${room}" id="of-room-${id}"/></message>`)
  const { server, stop } = await startXmppStub(jid, {
    answer: (question) => factsOf(question, features),
    hears(text) {
      asked.push(text)
      const joined = /<presence to="([^"]+)"/.exec(text)?.[1]
      if (joined) {
        write(`<presence from="${joined}"><x xmlns="${muc}#user"><item affiliation="none" role="participant"/>
          <status code="110"/></x></presence>`)
      }
      const own = /<message type="groupchat"[^>]* id="([^"]+)".*?<body>([^<]*)</.exec(text)
      if (own) says('ada', own[1]!, `<body>${own[2]}</body>`)
    },
    present: (speak) => {
      write = speak
    },
  })
  t.teardown(stop)
  const network = Network.over(t, { stop: async () => undefined } as Network['server'])
  const platform = network.platform()
  const account = { native: jid, method: 'password', fields: { jid, password: 'x', server } }
  const store = new Store(await linked(platform, account))
  const session = run(platform, store)
  t.teardown(() => session.stop())
  await session.reported('opened')
  await until(() => asked.join('').includes('<presence/>'))
  const own = await sent(session, room, 'mine')
  says('bob', 'of-bob-who-says-something', '<body>theirs</body>')
  await store.message('theirs')
  const reply = (id: string) => `<reply xmlns="urn:xmpp:reply:0" id="${id}"/>`
  /** Which message one answers. */
  const answered = async (text: string) => {
    const happening = await store.message(text)
    return happening.kind === 'message' ? happening.message.replyTo?.native : undefined
  }
  return { session, store, answered, own, says, reply, speak: write, heard: () => asked.join('') }
}

t.test('what names a message by the id of its room means that message', async (t) => {
  const { session, store, answered, own, says, reply, heard } = await inRoom(t, ['urn:xmpp:sid:0'])
  const theirs = 'of-bob-who-says-something'
  says('bob', 'answer-to-ada', `<body>to ada</body>${reply(`of-room-${own.native}`)}`)
  t.equal(await answered('to ada'), own.native)
  says('bob', 'answer-to-bob', `<body>to bob</body>${reply(`of-room-${theirs}`)}`)
  t.equal(await answered('to bob'), theirs)
  await sent(session, room, 'an answer', { replyTo: theirs })
  t.match(heard(), new RegExp(`<reply xmlns="urn:xmpp:reply:0" id="of-room-${theirs}"/>`))
  await perform(session, { kind: 'delete', chat: room, message: own.native })
  t.match(heard(), new RegExp(`<retract [^>]*id="of-room-${own.native}"`))
  says('bob', 'gone', `<retract xmlns="urn:xmpp:message-retract:1" id="of-room-${theirs}"/>`)
  const gone = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
  t.same(gone, { ...gone, messages: [theirs] })
})

const readMarker = (id: string) => `<displayed xmlns="urn:xmpp:chat-markers:0" id="${id}"/>`

t.test('nobody takes the id that the room gave to a message of another one', async (t) => {
  const { answered, own, says, reply } = await inRoom(t, ['urn:xmpp:sid:0'])
  const theirs = 'of-bob-who-says-something'
  for (const [index, native] of [theirs, own.native].entries()) {
    says('eve', `of-room-${native}`, `<body>eve ${index}</body>`)
    says(
      'bob',
      `answer-after-eve-${index}`,
      `<body>to ${index}</body>${reply(`of-room-${native}`)}`,
    )
    t.equal(await answered(`to ${index}`), native)
  }
  const early = 'of-bob-who-is-late-for-it'
  says('eve', `of-room-${early}`, '<body>eve is early</body>')
  says('bob', early, '<body>bob is late</body>')
  says('bob', 'answer-to-late-bob', `<body>to late bob</body>${reply(`of-room-${early}`)}`)
  t.equal(await answered('to late bob'), early)
})

t.test('moderators and readers name a message by the id of its room, too', async (t) => {
  const { store, own, says, speak } = await inRoom(t, ['urn:xmpp:sid:0'])
  const theirs = 'of-bob-who-says-something'
  says('bob', 'bob-has-read-it', readMarker(`of-room-${own.native}`))
  const read = await store.until(() => store.happenings.find(({ kind }) => kind === 'receipt'))
  t.same(read, { ...read, state: 'read', target: own.native })
  const moderated = '<moderated xmlns="urn:xmpp:message-moderate:1"/>'
  speak(`<message xmlns="jabber:client" type="groupchat" from="${room}" id="by-a-moderator">
    <retract xmlns="urn:xmpp:message-retract:1" id="of-room-${theirs}">${moderated}</retract></message>`)
  const gone = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
  t.same(gone, { ...gone, messages: [theirs] })
})

t.test('a session leaves what the room named to the next one', async (t) => {
  const facts = { hasArchive: false, givesIds: true, showsAddresses: true }
  const opened = () => {
    const told: (Happening | undefined)[] = []
    const ledger = {
      commit: async (said: readonly IncomingMessage[]) => {
        told.push(...said.map((delivery) => entered.read(delivery)))
      },
    }
    const parts = { own: jid, nick: 'ada', ledger, sent: () => false, failed: t.threw }
    const entered = new Room({ room }, facts, parts as unknown as RoomParts)
    const says = (id: string, ...words: Element[]) => {
      const stamp = xml('stanza-id', { xmlns: 'urn:xmpp:sid:0', by: room, id: `of-room-${id}` })
      const attributes = { type: 'groupchat', from: `${room}/bob`, id }
      entered.takeMessage(xml('message', attributes, xml('body', {}, id), ...words, stamp))
    }
    return { entered, says, told }
  }
  const first = opened()
  first.entered.goOn()
  const ids = Array.from({ length: 60 }, (_, index) => `a-message-of-bob-${index}`)
  for (const id of ids) first.says(id)
  await until(() => first.told.length === ids.length)
  const left: RoomState = JSON.parse(JSON.stringify(first.entered.state))
  t.equal(left.given?.length, 50)

  const { entered, says, told } = opened()
  entered.restore(left)
  entered.goOn()
  t.equal(entered.reference('a-message-of-bob-59'), 'of-room-a-message-of-bob-59')
  says('answer', xml('reply', { xmlns: 'urn:xmpp:reply:0', id: 'of-room-a-message-of-bob-58' }))
  const answer = await until(() => told[0])
  t.equal(answer.kind === 'message' && answer.message.replyTo?.native, 'a-message-of-bob-58')
})

t.test('an id of the room that is too long names nothing', async (t) => {
  const { session, store, answered, says, reply, heard } = await inRoom(t, ['urn:xmpp:sid:0'])
  const long = 'a-message-with-a-long-id-'.repeat(10)
  says('bob', long, '<body>long</body>')
  await store.message('long')
  says('bob', 'answer-to-the-long-one', `<body>to long</body>${reply(`of-room-${long}`)}`)
  t.match(await answered('to long'), /^long:/)
  await sent(session, room, 'an answer', { replyTo: long })
  t.match(heard(), new RegExp(`<reply xmlns="urn:xmpp:reply:0" id="${long}"/>`))
})

t.test('an id that anybody could make up names nothing', async (t) => {
  const { session, answered, own, says, reply, heard } = await inRoom(t, [])
  says('bob', 'answer-to-ada', `<body>to ada</body>${reply(`of-room-${own.native}`)}`)
  t.equal(await answered('to ada'), `of-room-${own.native}`)
  await sent(session, room, 'an answer', { replyTo: own.native })
  t.match(heard(), new RegExp(`<reply xmlns="urn:xmpp:reply:0" id="${own.native}"/>`))
})
