/** Each message is delivered once under an id of its own, whatever ids servers and clients give it. */
import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import type { SessionReport } from '../../actors/ports/platform.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { SentRequests } from '../../src/platforms/kit/sent-requests.ts'
import { Archive } from '../../src/platforms/xmpp/archive.ts'
import { CatchUp } from '../../src/platforms/xmpp/catch-up.ts'
import { parseCheckpoints } from '../../src/platforms/xmpp/checkpoint.ts'
import { delivered, recovered } from '../../src/platforms/xmpp/delivery.ts'
import { Ledger, RecentIds } from '../../src/platforms/xmpp/ledger.ts'
import { keyOf, MessageNames, networkId } from '../../src/platforms/xmpp/message-identity.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { RequestRefused } from '../../src/platforms/xmpp/requests.ts'
import fc from '../support/fast-check.ts'
import { quietLogger } from '../support/logger.ts'
import { patience } from './contract/recorder.ts'

const own = 'me@here.test'

interface Written {
  /** As ejabberd makes them: of the time, so that two messages may have the same. */
  readonly archived: number
  readonly sender: string
  readonly id: string | undefined
  readonly text: string
}

const stanzaOf = ({ sender, id, text }: Written) =>
  xml('message', { type: 'chat', id, from: sender, to: own }, xml('body', {}, text))

/** An archive that pages as servers do: by its ids, and after an id comes what has a greater one. */
class Server {
  readonly archived: Written[] = []
  readonly #pageSize: number

  constructor(pageSize: number) {
    this.#pageSize = pageSize
  }

  archive(): Archive {
    const archive: Archive = new Archive(own, own, {
      ask: async (_type: 'get' | 'set', query: Element) => this.#answer(query, archive),
    })
    return archive
  }

  #answer(query: Element, archive: Archive): Element {
    const paging = query.getChild('set', ns.paging)
    const after = paging?.getChildText('after')
    const all = this.archived.toSorted((one, other) => one.archived - other.archived)
    if (after && !all.some(({ archived }) => `${archived}` === after)) {
      throw new RequestRefused('item-not-found')
    }
    const rest = after ? all.filter(({ archived }) => archived > Number(after)) : all
    const isBackwards = paging?.getChild('before') !== undefined
    const page = isBackwards ? rest.slice(-this.#pageSize) : rest.slice(0, this.#pageSize)
    for (const written of page) {
      const forwarded = xml('forwarded', ns.forward, stanzaOf(written))
      const { queryid = '' } = query.attrs
      const attributes = { xmlns: ns.archive, queryid, id: `${written.archived}` }
      archive.take(xml('message', { from: own }, xml('result', attributes, forwarded)))
    }
    const complete = `${page.length === rest.length}`
    return xml('iq', {}, xml('fin', { xmlns: ns.archive, complete }))
  }
}

/** A session's part that receives; what outlives it is in `Stored`. */
interface Stored {
  checkpoint: Json
  readonly happenings: Map<string, Happening>
}

function receiving(server: Server, stored: Stored) {
  const report = {
    async events(happenings: readonly Happening[], checkpoint: Json) {
      for (const happening of happenings) {
        if (stored.happenings.has(happening.sourceKey)) continue
        stored.happenings.set(happening.sourceKey, happening)
      }
      stored.checkpoint = checkpoint
    },
  } as Partial<SessionReport> as SessionReport
  const checkpoints = parseCheckpoints(stored.checkpoint, own)
  const start = { own, checkpoints, invited: [], out: [], unarchived: [], sent: new SentRequests() }
  const ignore = () => undefined
  const ledger = new Ledger(start, report, {
    found: ignore,
    receiptWanted: ignore,
    invited: ignore,
    recall: async () => [],
    measured: async (happenings) => happenings,
  })
  const catchUp = new CatchUp(server.archive(), ledger, quietLogger, (one) => recovered(one, own))
  return { ledger, catchUp }
}

const writings = fc.array(
  fc.record({
    /** How far the clock of the server goes on; not at all is a shared archive id. */
    step: fc.nat({ max: 2 }),
    sender: fc.constantFrom('ada@there.test', 'bob@there.test'),
    id: fc.constantFrom(undefined, '1', '2', 'c0ffee00-0000-4000-8000-000000000001'),
    how: fc.constantFrom('live', 'missed', 'restart'),
  }),
  { minLength: 1, maxLength: 40 },
)

t.test('with shared ids and small pages nothing is lost, doubled or mixed up', async (t) => {
  await fc.assert(
    fc.asyncProperty(writings, fc.integer({ min: 1, max: 4 }), async (all, pageSize) => {
      const server = new Server(pageSize)
      const stored: Stored = { checkpoint: null, happenings: new Map() }
      let session = receiving(server, stored)
      await session.catchUp.begin(patience())
      let clock = 1_000
      for (const [index, { step, sender, id, how }] of all.entries()) {
        clock += step
        const written = { archived: clock, sender, id, text: `text ${index}` }
        server.archived.push(written)
        if (how === 'live') {
          const place = xml('stanza-id', { xmlns: ns.ids, id: `${clock}`, by: own })
          const stanza = stanzaOf(written)
          stanza.append(place)
          const delivery = delivered(stanza, { own, domain: 'here.test', archive: true })
          await session.ledger.commit(delivery ? [delivery] : [])
        } else if (how === 'restart') {
          session = receiving(server, stored)
          await session.catchUp.begin(patience())
          await session.catchUp.run(patience())
        }
      }
      session = receiving(server, stored)
      await session.catchUp.begin(patience())
      await session.catchUp.run(patience())
      const messages = [...stored.happenings.values()].flatMap((happening) =>
        happening.kind === 'message' ? happening.message : [],
      )
      const texts = messages.map(({ content }) => (content.kind === 'text' ? content.text : ''))
      // An archive cannot tell how many of a shared id are on its next page where one page holds no more of them.
      const mostShared = Math.max(
        ...server.archived.map(
          (one) => server.archived.filter(({ archived }) => archived === one.archived).length,
        ),
      )
      fc.pre(mostShared < pageSize)
      const expected = all.map((_, index) => `text ${index}`)
      if (texts.toSorted().join() !== expected.toSorted().join()) {
        throw new Error(`${expected.filter((text) => !texts.includes(text))} are missing`)
      }
      const names = messages.map(({ chat, native }) => `${chat.native}\n${native}`)
      const strong = messages.filter(({ native }) => networkId(native).length >= 16)
      if (strong.length === 0 && new Set(names).size !== names.length) {
        throw new Error('Two messages have the same id')
      }
    }),
    { numRuns: 300 },
  )
  t.pass()
})

interface Facts {
  readonly archived: string
  readonly sender: string
  readonly id: string | undefined
  readonly originId: string | undefined
  readonly text: string
}

t.test('copies have the same key, and messages that differ in anything have not', async (t) => {
  const facts = fc.record({
    archived: fc.constantFrom('1', '2'),
    sender: fc.constantFrom('ada@there.test/phone', 'bob@there.test/phone'),
    id: fc.constantFrom(undefined, 'm1', 'm2'),
    originId: fc.constantFrom(undefined, 'o1', 'o2'),
    text: fc.constantFrom('yes', 'no'),
  })
  const key = ({ archived, sender, id, originId, text }: Facts) => {
    const origin = originId && xml('origin-id', { xmlns: ns.ids, id: originId })
    const attributes = { type: 'chat', id, from: sender, to: own }
    const message = xml('message', attributes, xml('body', {}, text), origin || undefined)
    return keyOf({ message, archive: own, archived, own: false, isRoom: false })
  }
  fc.assert(
    fc.property(facts, facts, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other)
      return (key(one) === key(other)) === isSame
    }),
  )
  t.pass()
})

t.test('an id that is used again names the newest message of its writer', async (t) => {
  const names = new MessageNames()
  const random = 'c0ffee00-0000-4000-8000-000000000001'
  t.equal(names.give('chat', random, 'first'), random)
  t.equal(names.give('chat', random, 'first'), random)
  t.equal(names.give('another chat', random, 'second'), random)
  const second = names.give('chat', random, 'second')
  t.not(second, random)
  t.equal(networkId(second), random)
  for (const key of ['first', 'second']) {
    names.remember('chat', key === 'first' ? 'ada' : 'bob', '1', names.give('chat', '1', key))
  }
  t.equal(names.find('chat', '1', 'ada'), names.give('chat', '1', 'first'))
  t.equal(names.find('chat', '1', 'bob'), names.give('chat', '1', 'second'))
  t.equal(names.find('chat', '1'), names.give('chat', '1', 'second'))
  t.equal(names.find('chat', 'never seen'), 'never seen')
})

t.test('a reading of the archive begins where all before is settled', async (t) => {
  const ids = new RecentIds('old')
  ids.add('1', 0)
  ids.add('2', 1_000)
  t.equal(ids.before, 'old')
  ids.add('3', 5_000)
  t.equal(ids.before, '1')
  for (let id = 4; id <= 200; id++) ids.add(`${id}`, 5_001)
  t.equal(ids.before, '100')
})

t.test('a checkpoint of an earlier version is read on after its id', async (t) => {
  const server = new Server(50)
  for (const archived of [1, 2, 3]) {
    server.archived.push({ archived, sender: 'ada@there.test', id: 'm', text: `text ${archived}` })
  }
  const stored: Stored = { checkpoint: { mam: '2', at: 0 }, happenings: new Map() }
  await receiving(server, stored).catchUp.run(patience())
  t.equal(stored.happenings.size, 1)
  t.strictSame(stored.checkpoint, {
    mam: '3',
    from: '2',
    at: (stored.checkpoint as { at: number }).at,
  })
})
