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
