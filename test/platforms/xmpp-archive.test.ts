/** An archive is read in pages that fit into the memory, however large its messages are. */
import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import { Archive } from '../../src/platforms/xmpp/archive.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import type { RequestOptions } from '../../src/platforms/xmpp/requests.ts'
import { patience } from './contract/recorder.ts'

const room = 'room@there.test'
const huge = xml('message', {}, xml('body', {}, 'x'.repeat(2 ** 20)))

/** One that holds as many huge messages as anybody wants. */
function archive() {
  const sizes: number[] = []
  const result = new Archive(room, 'me@here.test', {
    async ask(_type: 'get' | 'set', query: Element, { signal }: RequestOptions) {
      const most = Number(query.getChild('set', ns.paging)?.getChildText('max'))
      const { queryid = '' } = query.attrs
      sizes.push(most)
      for (let id = 1; id <= most; id++) {
        const forwarded = xml('forwarded', ns.forward, huge)
        const found = xml('result', { xmlns: ns.archive, queryid, id: `${id}` }, forwarded)
        result.take(xml('message', { from: room }, found))
      }
      signal.throwIfAborted()
      return xml('iq', {}, xml('fin', { xmlns: ns.archive }))
    },
  })
  return { result, sizes }
}

t.test('whoever asks for huge messages gets fewer of them at a time', async (t) => {
  const { result, sizes } = archive()
  const last = await result.page({ before: '', max: 100 }, patience())
  t.equal(last.messages.length, 13)
  const earlier = await result.before('1', patience())
  t.equal(earlier.length, 13)
  const next = await result.page({ after: '1' }, patience())
  t.equal(next.messages.length, 13)
  t.strictSame(sizes, [100, 13, 13, 13])
})

t.test('what comes after the end of an answer belongs to nothing', async (t) => {
  const queries: string[] = []
  const result = new Archive(room, 'me@here.test', {
    async ask(_type: 'get' | 'set', query: Element) {
      const { queryid = '' } = query.attrs
      queries.push(queryid)
      tell(queryid, 'in time')
      if (queries.length === 2) throw new Error('the connection closed')
      return xml('iq', {}, xml('fin', { xmlns: ns.archive, complete: 'true' }))
    },
  })
  const tell = (queryid: string, id: string) => {
    const forwarded = xml('forwarded', ns.forward, huge)
    const found = xml('result', { xmlns: ns.archive, queryid, id }, forwarded)
    t.ok(result.take(xml('message', { from: room }, found)), "it is nobody's message")
  }
  const page = await result.page({ before: '' }, patience())
  await t.rejects(result.page({ before: '' }, patience()), { message: 'the connection closed' })
  for (const query of queries) for (let late = 0; late < 40; late++) tell(query, 'late')
  t.same(
    page.messages.map(({ id }) => id),
    ['in time'],
    'an answer that has ended is held no longer',
  )
})

/** One message, under an id of the answer's, the ids within it that someone claims to be the archive's, and the id of the page. */
async function named(result: string, stanzaIds: readonly [by: string, id: string][], page: string) {
  const archive = new Archive(room, 'me@here.test', {
    async ask(_type: 'get' | 'set', query: Element) {
      const { queryid = '' } = query.attrs
      const ids = stanzaIds.map(([by, id]) => xml('stanza-id', { xmlns: ns.ids, by, id }))
      const message = xml('message', {}, xml('body', {}, 'x'), ...ids)
      const forwarded = xml('forwarded', ns.forward, message)
      const found = xml('result', { xmlns: ns.archive, queryid, id: result }, forwarded)
      archive.take(xml('message', { from: room }, found))
      const set = xml('set', ns.paging, xml('first', {}, page), xml('last', {}, page))
      return xml('iq', {}, xml('fin', { xmlns: ns.archive }, set))
    },
  })
  const { messages } = await archive.page({ before: '' }, patience())
  return messages.map(({ id }) => id)
}

t.test('a message goes by the id under which the archive finds it again', async (t) => {
  t.same(await named('a', [], 'a'), ['a'])
  // jackal makes another id up for each answer, and has the real one beside the message.
  t.same(await named('new', [[room, 'a']], 'a'), ['a'])
  t.same(await named('a', [[room, 'forged']], 'a'), ['a'], 'an id that a writer made up')
  t.same(await named('a', [['you@there.test', 'page']], 'page'), ['a'])
})

t.test(
  'a message has the time of its archive, whose clock may be some minutes ahead',
  async (t) => {
    const now = Math.floor(Date.now() / 1000)
    const read = async (ahead: number) => {
      const archive = new Archive(room, 'me@here.test', {
        async ask(_type: 'get' | 'set', query: Element) {
          const { queryid = '' } = query.attrs
          const stamp = new Date((now + ahead) * 1000).toISOString()
          const delay = xml('delay', { xmlns: ns.delay, stamp })
          const forwarded = xml('forwarded', ns.forward, delay, huge)
          const found = xml('result', { xmlns: ns.archive, queryid, id: 'a' }, forwarded)
          archive.take(xml('message', { from: room }, found))
          return xml('iq', {}, xml('fin', { xmlns: ns.archive }))
        },
      })
      const { messages } = await archive.page({ before: '' }, patience())
      return messages[0]!.at - now
    }
    t.strictSame([await read(-120), await read(0), await read(120)], [-120, 0, 120])
    const far = await read(1_000_000)
    t.ok(far >= 300 && far < 330, 'nobody writes as of another year')
  },
)
