/** Each request by which an account changes a room fails in turn: nobody is told that nothing was done when something was. */
import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Operation } from '../../machines/model/operation.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { PERMISSIONS } from '../../machines/model/rights.ts'
import { BrokenWrite } from '../../src/platforms/xmpp/failures.ts'
import { type Context, perform } from '../../src/platforms/xmpp/handlers.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { Requests } from '../../src/platforms/xmpp/requests.ts'
import { Members } from '../../src/platforms/xmpp/rooms/members.ts'
import { Moderation } from '../../src/platforms/xmpp/rooms/moderation.ts'
import { Occupants } from '../../src/platforms/xmpp/rooms/occupants.ts'
import { setRoom } from '../../src/platforms/xmpp/rooms/settings.ts'

const own = 'me@here.test'
const chat = 'room@rooms.test'
const person = 'ada@here.test'

interface Peer {
  /** Says what is done. */
  readonly carryOut: () => void
  readonly answer: (error?: string) => void
  /** The session is over. */
  readonly end: () => void
}
/** What becomes of one request. Throws where the client cannot send it. */
type Fate = (peer: Peer) => void

const fine: Fate = ({ carryOut, answer }) => {
  carryOut()
  answer()
}
const fates: Readonly<Record<string, Fate>> = {
  'is refused': ({ answer }) => answer('forbidden'),
  'does not reach the room': ({ answer }) => answer('remote-server-timeout'),
  'is not sent': () => {
    throw new Error('The connection broke')
  },
  'breaks in the middle': ({ carryOut }) => {
    carryOut()
    throw new BrokenWrite('The connection broke')
  },
  'is the last of its session': ({ carryOut, end }) => {
    carryOut()
    end()
  },
}

const form = xml(
  'query',
  ns.mucOwner,
  xml(
    'x',
    { xmlns: ns.form, type: 'form' },
    ...['roomname', 'roomdesc'].map((name) => xml('field', { var: `muc#roomconfig_${name}` })),
  ),
)

/** The account in a room with a person who is there twice, and who is a member. */
function scene(fateOf: (request: number) => Fate) {
  const ending = new AbortController()
  let [asked, carriedOut] = [0, 0]
  const requests: Requests = new Requests(own, async (stanza: Element) => {
    const { id, type, to } = stanza.attrs
    const isChange = type === 'set'
    const answer = (error?: string) => {
      const said = error === undefined ? form : xml('error', {}, xml(error, ns.stanzaErrors))
      const kind = error === undefined ? 'result' : 'error'
      requests.take(xml('iq', { type: kind, id, from: to ?? own }, said))
    }
    const fate = isChange ? fateOf(asked++) : fine
    fate({ answer, carryOut: () => void carriedOut++, end: () => ending.abort(new Error('Over')) })
    if (!isChange) carriedOut -= 1
  })
  const occupants = new Occupants(chat)
  for (const nick of ['phone', 'desk']) {
    const item = xml('item', { affiliation: 'member', role: 'participant', jid: person })
    occupants.take(nick, xml('presence', {}, xml('x', ns.mucUser, item)))
  }
  const members = new Members(chat, occupants, requests)
  const moderation = new Moderation({ room: chat, own, members, occupants, requests })
  const set = (...setting: [setting: 'title' | 'description', value: string, AbortSignal]) =>
    setRoom(requests, chat, ...setting)
  const { signal } = ending
  const places = { at: async () => ({ room: { members, moderation, set } }) }
  const context = { places, signal, requestId: 'r' } as unknown as Context
  const result = (operation: Operation) =>
    perform(context, operation).then(
      () => undefined,
      (cause: unknown) => {
        if (cause instanceof RequestFailed) return cause.failure
        throw cause
      },
    )
  return { requests, signal, result, count: () => ({ asked, carriedOut }) }
}

const operations: readonly Operation[] = [
  { kind: 'ban', chat, person },
  { kind: 'unban', chat, person, onlyIfBanned: false },
  { kind: 'restrict', chat, person, permissions: [] },
  { kind: 'restrict', chat, person, permissions: PERMISSIONS },
  { kind: 'promote', chat, person, rights: ['restrict_members'] },
  { kind: 'set_title', chat, title: 'Title' },
  { kind: 'set_description', chat, description: 'Description' },
]

const isTold = (failure: Failure | undefined, isDone: boolean) =>
  isDone ? failure?.certain === false || failure?.code === 'timeout' : failure?.certain !== false

for (const operation of operations) {
  t.test(operation.kind, async (t) => {
    const whole = scene(() => fine)
    t.equal(await whole.result(operation), undefined)
    const { asked } = whole.count()
    t.ok(asked > 0)
    for (let at = 0; at < asked; at++) {
      for (const [said, fate] of Object.entries(fates)) {
        const { result, count } = scene((request) => (request === at ? fate : fine))
        const failure = await result(operation)
        t.ok(failure, `request ${at} ${said}`)
        const told = `${failure?.code} ${failure?.description} ${failure?.certain}`
        t.ok(isTold(failure, count().carriedOut > 0), `request ${at} ${said}: ${told}`)
        const isAway = said === 'does not reach the room'
        t.equal(failure?.code === 'unavailable', isAway || !said.startsWith('is refused'), told)
      }
    }
  })
}
