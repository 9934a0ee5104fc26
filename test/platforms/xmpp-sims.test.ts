/** Files that others share in the form that came before XEP-0447 (SIMS, XEP-0385). */
import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import { contentOf } from '../../src/platforms/xmpp/reading.ts'

const link = 'https://files.test/3f/summit.bin'
const sims = 'urn:xmpp:sims:1'
const source = (uri: string) => xml('reference', { xmlns: reference, type: 'data', uri })
const reference = 'urn:xmpp:reference:0'

function shared(facts: readonly Element[], sources: readonly Element[] = [source(link)]) {
  const file = xml('file', 'urn:xmpp:jingle:apps:file-transfer:5', ...facts)
  const media = xml('media-sharing', sims, file, xml('sources', {}, ...sources))
  return xml('reference', { xmlns: reference, type: 'data', begin: '0', end: '32' }, media)
}

const read = (body: string, ...children: Element[]) =>
  contentOf(xml('message', {}, xml('body', {}, body), ...children))

const facts = [
  xml('media-type', {}, 'image/jpeg'),
  xml('name', {}, 'summit.jpg'),
  xml('size', {}, '3032449'),
  xml('dimensions', {}, '4096x2160'),
]

t.test('a file is what its facts say, with the words around its link', async (t) => {
  const media = {
    kind: 'photo',
    file: { native: link },
    name: 'summit.jpg',
    mime: 'image/jpeg',
    size: 3032449,
    width: 4096,
    height: 2160,
  }
  const whole = { kind: 'media', media, caption: { text: 'The top!' } }
  t.match(read(`The top! ${link}`, shared(facts)), whole)
  const outOfBand = xml('x', 'jabber:x:oob', xml('url', {}, link))
  t.match(read(`The top! ${link}`, outOfBand, shared(facts)), whole, 'beside the older form')
})

t.test('what cannot be fetched, or is no file, stays a text', async (t) => {
  const peer = 'xmpp:ada@there.test?jingle-ft'
  t.match(read('The top!', shared(facts, [source(peer)])), { kind: 'text', text: 'The top!' })
  const mention = xml('reference', { xmlns: reference, type: 'mention', uri: 'xmpp:me@here.test' })
  t.match(read('@me, look', mention), { kind: 'text', text: '@me, look' })
  const both = read('', shared(facts, [source(peer), source(link)]))
  t.match(both, { kind: 'media', media: { file: { native: link } } }, 'the source that can')
})

t.test('a very long name keeps its extension', async (t) => {
  const named = xml('name', {}, `${'a'.repeat(300)}.flac`)
  t.match(read(link, shared([named])), { media: { name: `${'a'.repeat(250)}.flac` } })
})

t.test('impossible measures count for nothing', async (t) => {
  const odd = [xml('dimensions', {}, 'wide'), xml('size', {}, '-1')]
  const content = read(link, shared(odd))
  t.match(content, { kind: 'media', media: { kind: 'document', name: 'summit.bin' } })
  t.notMatch(content, { media: { width: Number } })
  t.notMatch(content, { media: { size: Number } })
  const fact = (name: string) => xml(name, {}, '999999999999999')
  const figures = ['width', 'height', 'length', 'size'].map(fact)
  const huge = read(link, shared([xml('media-type', {}, 'image/jpeg'), ...figures]))
  t.notMatch(huge, { media: { width: Number } }, 'libraries hold no such number')
  t.notMatch(huge, { media: { height: Number } })
  t.notMatch(huge, { media: { durationSeconds: Number } })
  t.match(huge, { media: { kind: 'document', size: 999_999_999_999_999 } }, 'and no such photo')
})

t.test('a long text is cut between characters', (t) => {
  const cut = `${'x'.repeat(254)}🏔`
  const file = read(link, shared([xml('name', {}, `🏔${'x'.repeat(254)}`)]))
  t.match(file, { media: { name: /^\ufffdx{254}$/ } })
  const where = xml(
    'geoloc',
    'http://jabber.org/protocol/geoloc',
    xml('lat', {}, '1'),
    xml('lon', {}, '2'),
  )
  where.append(xml('description', {}, cut), xml('street', {}, cut))
  const place = read('', where)
  t.match(place, { venue: { title: /^x{254}\ufffd$/, address: /^x{254}\ufffd$/ } })
  t.end()
})
