/** Places, cards and albums, as others write them and as others see them. */
import { randomUUID } from 'node:crypto'
import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import type { Content } from '../../machines/model/content.ts'
import type { Media } from '../../machines/model/media.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { contentOf } from '../../src/platforms/xmpp/reading.ts'
import { largestUpload } from '../support/xmpp-server.ts'
import { sentContent } from './contract/message-operations.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const reading = (body: string, ...more: Element[]) =>
  contentOf(xml('message', {}, body && xml('body', {}, body), ...more))
const element = (name: string, xmlns: string, fields: object) =>
  xml(name, xmlns, ...Object.entries(fields).map(([key, value]) => xml(key, {}, value)))
const geoloc = (fields: object) => element('geoloc', ns.location, fields)
const carrying = (media: Media, words = '') =>
  ({ kind: 'media', media, caption: { text: words, entities: [] } }) as Content & { kind: 'media' }

t.test('a place is read from its link or its element', async (t) => {
  const place = { kind: 'location', latitude: 35.5, longitude: -51 }
  t.strictSame(reading('geo:35.5,-51;u=20'), { ...place, accuracy: 20 })
  t.strictSame(reading('', geoloc({ lat: '35.5', lon: '-51', accuracy: '20' })), {
    ...place,
    accuracy: 20,
  })
  const cafe = { description: 'Café', street: 'Long Street 1' }
  t.strictSame(reading('at Café\ngeo:35.5,-51', geoloc({ lat: '35.5', lon: '-51', ...cafe })), {
    ...place,
    venue: { title: 'Café', address: 'Long Street 1' },
  })
  const from = geoloc({ lat: '35.5', lon: '-51' })
  t.match(reading('I write from here', from), { kind: 'text' }, 'words are not lost')
  t.match(reading('see\ngeo:35.5,-51'), { kind: 'text' })
  t.match(reading('geo:95,0'), { kind: 'text' })
  t.equal(reading('', geoloc({ lat: '95', lon: '0' })), undefined)
  t.equal(reading('', geoloc({ country: 'Iran' })), undefined)
})

t.test('a card is read from its element or its text', async (t) => {
  const contact = { kind: 'contact', phone: '+15550100', firstName: 'Ada', lastName: 'Lovelace' }
  const card = (...parts: Element[]) => xml('vcard', ns.card, ...parts)
  const fn = xml('fn', {}, xml('text', {}, 'Ada'))
  const n = element('n', '', { given: 'Ada', surname: 'Lovelace' })
  const tel = xml('tel', {}, xml('uri', {}, 'tel:+15550100'))
  t.strictSame(reading('Ada', card(fn, n, tel)), contact)
  t.match(reading('Ada', card(fn, tel)), { firstName: 'Ada', lastName: undefined })
  t.match(reading('only Ada', card(fn)), { kind: 'text', text: 'only Ada' })
  const lines = ['BEGIN:VCARD', 'VERSION:3.0', 'N:Lovelace;Ada;;;', 'FN:Ada Love', ' lace']
  const vcard = [...lines, 'item1.TEL;TYPE=cell:+15550100', 'END:VCARD'].join('\r\n')
  t.strictSame(reading(`${vcard}\r\n`), { ...contact, vcard })
  t.match(reading([...lines, 'END:VCARD'].join('\n')), { kind: 'text' }, 'without a number')
  t.match(reading(`${vcard}\nsee?`), { kind: 'text' })
})

t.test('over a server', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)
  const { files } = network
  const { friend, chat, first } = await scene(t, network)

  await t.test('people without a word for it read it all the same', async (t) => {
    const venue = { title: 'Café', address: 'Long Street 1', foursquareId: 'x' }
    const place = { kind: 'location', latitude: 1.5, longitude: 2, venue } as const
    const { native, content } = await sentContent(first, chat, place)
    t.strictSame(content, { ...place, venue: { title: 'Café', address: 'Long Street 1' } })
    const seen = await friend.sees(({ id }) => id === native)
    t.equal(seen.body, 'Café\nLong Street 1\ngeo:1.5,2')
    const ada = { kind: 'contact', phone: '+1', firstName: 'Ada', lastName: 'Byron' } as const
    const sent = await sentContent(first, chat, { ...ada, vcard: 'BEGIN:VCARD' })
    t.strictSame(sent.content, ada, 'what is not carried is not claimed')
    t.equal((await friend.sees(({ id }) => id === sent.native)).body, 'Ada Byron\n+1')
  })

  await t.test('moving pictures that are no GIF are a film', async (t) => {
    const media = { ...(await files.add('animation')), mime: 'video/mp4', name: 'cat.mp4' }
    const { native, content } = await sentContent(first, chat, carrying(media))
    t.match(content, { media: { kind: 'video' } })
    const { link, file } = await friend.sees(({ id }) => id === native)
    t.match(link, /cat\.mp4$/)
    t.match(file, { type: 'video/mp4' })
  })

  await t.test('a live photo would lose its film', async (t) => {
    const live = await files.add('video')
    const content = carrying({ ...(await files.add('photo')), live }, 'half of it')
    const refusal = { code: 'bad_request', description: 'live_photo is not supported on XMPP' }
    t.match(await refusalOf(perform(first, { kind: 'send', chat, content })), refusal)
    const contents = [carrying(await files.add('photo'), 'never seen'), content]
    t.match(await refusalOf(perform(first, { kind: 'send_album', chat, contents })), refusal)
  })

  await t.test('an album in a room is a message for each, with an id for each', async (t) => {
    const room = `album-${first.store.credentialId}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    const contents = [
      carrying(await files.add('photo'), 'one'),
      carrying(await files.add('document'), 'two'),
    ]
    const result = await perform(first, { kind: 'send_album', chat: room, contents })
    if (result.kind !== 'messages') throw new Error('an album resolves with its messages')
    for (const { native, album } of result.messages) {
      t.equal((await friend.sees(({ stanzaId }) => stanzaId === native)).album, album)
    }
    t.equal(new Set(result.messages.map(({ native }) => native)).size, 2)
  })

  await t.test('an album that the archive tells of has the names of the log', async (t) => {
    const { chat, store, first, open } = await scene(t, network)
    const contents = [carrying(await files.add('photo')), carrying(await files.add('photo'))]
    const before = store.checkpoint
    const id = randomUUID()
    await perform(first, { kind: 'send_album', chat, contents }, id)
    await first.stop()
    store.checkpoint = before
    await open()
    await store.until(() => store.happenings.find(({ sourceKey }) => sourceKey === `own:${id}`))
    // As `actors/credential/perform.ts` names what a key has sent.
    await store.until(() => store.happenings.find(({ sourceKey }) => sourceKey === `own:${id}:1`))
  })

  await t.test('an album that cannot be uploaded whole is not sent', async (t) => {
    const huge = await files.add('document', Buffer.alloc(largestUpload + 1))
    const contents = [carrying(await files.add('photo'), 'never seen'), carrying(huge)]
    t.match(await refusalOf(perform(first, { kind: 'send_album', chat, contents })), {
      description: 'file is too big',
    })
    await sentContent(first, chat, { kind: 'text', text: 'afterwards', entities: [] })
    await friend.sees(({ body }) => body === 'afterwards')
    t.notOk(friend.seen.some(({ body }) => body?.includes('never seen')))
  })
})
