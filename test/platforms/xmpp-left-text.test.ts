/** What a session leaves, as it is stored: it comes back whole, or not at all. */
import { xml } from '@xmpp/client'
import t from 'tap'
import { type LeftSession, leftText, parseLeft } from '../../src/platforms/xmpp/left-session.ts'
import { parseSecrets, secretsJson } from '../../src/platforms/xmpp/secrets.ts'

const stanza = xml('message', { id: 'a', to: undefined }, xml('body', {}, 'سلام <&>'))
const left: LeftSession = {
  stream: {
    id: 'stream',
    outbound: 2,
    outbound_q: [{ stanza, stamp: '2026-01-01T00:00:00Z' }],
    received: 5,
    isRenamed: true,
    max: '600',
    location: 'host:5222',
  },
  hasArchive: true,
  sent: [['a', { at: 1, confirmed: true, native: 'b' }]],
  rooms: [
    {
      bookmark: { room: 'room@rooms.test', password: 'open' },
      nick: 'me',
      facts: { title: 'Room', hasArchive: true, showsAddresses: false },
      subject: 'All',
      occupants: [
        ['me', 'owner', 'moderator', 'me@test'],
        ['eve', 'none', 'visitor'],
      ],
    },
  ],
}

t.test('it comes back as it was, and as that of another process', async (t) => {
  const { stream, ...rest } = parseLeft(leftText(left))!
  const { outbound_q, ...counters } = left.stream
  t.same(rest, { hasArchive: true, sent: left.sent, rooms: left.rooms })
  const [unconfirmed] = stream.outbound_q
  t.equal(`${unconfirmed?.stanza}`, `${stanza}`)
  t.equal(unconfirmed?.stamp, outbound_q[0]?.stamp)
  const { outbound_q: _, ...more } = stream
  t.same(more, { ...counters, isInherited: true })
})

t.test('it is in the secrets until they are written without it', async (t) => {
  const secrets = { jid: 'me@test', password: 'x', resource: 'r' }
  const stored = secretsJson(secrets, leftText(left))
  const parsed = parseSecrets(stored)!
  t.match(parsed.left?.session, { hasArchive: true })
  t.same(secretsJson(parsed), secrets)
})

t.test('it is not used where it cannot be right', async (t) => {
  const text = leftText(left) ?? ''
  const stored = JSON.parse(text)
  t.equal(parseLeft(undefined), undefined)
  t.equal(parseLeft(null), undefined)
  t.equal(parseLeft(JSON.stringify({ ...stored, form: 2 })), undefined, 'of another version')
  const old = { ...stored, at: stored.at - 600 - 61 }
  t.equal(parseLeft(JSON.stringify(old)), undefined, 'the server has given it up')
  const stream = { ...stored.stream, max: undefined }
  t.ok(parseLeft(JSON.stringify({ ...old, stream })), 'the server does not say when it does')
})

t.test('too many people are not stored', async (t) => {
  const [room] = left.rooms
  const occupants = Array.from({ length: 10_000 }, (_, at) => {
    return [`occupant ${at}`, 'none', 'participant'] as const
  })
  t.equal(leftText({ ...left, rooms: [{ ...room!, occupants }] }), undefined)
})

t.test('what cannot be used is known to be there, so that it is taken out', async (t) => {
  const secrets = { jid: 'me@test', password: 'x', resource: 'r' }
  const stored = JSON.parse(leftText(left) ?? '')
  for (const change of [{ form: 2 }, { at: stored.at - 600 - 61 }]) {
    const text = JSON.stringify({ ...stored, ...change })
    t.same(parseSecrets({ ...secrets, left: text })?.left, { session: undefined })
  }
  t.equal(parseSecrets(secrets)?.left, undefined)
})
