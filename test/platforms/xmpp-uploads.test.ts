/** Files out of the gateway's store go to the server of the account, and to people as links. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Content } from '../../machines/model/content.ts'
import type { Media } from '../../machines/model/media.ts'
import { largestUpload } from '../support/xmpp-server.ts'
import { sentContent } from './contract/message-operations.ts'
import { patience } from './contract/recorder.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const carrying = (media: Media, caption: string, entities: object[] = []) =>
  ({ kind: 'media', media, caption: { text: caption, entities } }) as Content & { kind: 'media' }

t.test('XMPP uploads', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)
  const { files } = network
  const { friend, chat, first } = await scene(t, network)
  const send = (content: Content, id?: string) =>
    perform(first, { kind: 'send', chat, content }, id)

  await t.test(
    'a large file arrives whole, with its thumbnail and a formatted caption',
    async (t) => {
      const bytes = randomBytes(3_000_001)
      const thumbnail = { ...(await files.add('photo')), width: 90, height: 60 }
      const media = { ...(await files.add('video', bytes)), durationSeconds: 7, thumbnail }
      const bold = { type: 'bold', offset: 0, length: 4 }
      const sent = await sentContent(first, chat, carrying(media, 'bold words', [bold]))
      t.match(sent.content, { caption: { text: 'bold words', entities: [bold] } })
      const { body, link, file } = await friend.sees(({ id }) => id === sent.native)
      t.equal(body, `${link}\n*bold* words`)
      t.match(file, { type: 'video/mp4', size: /^3000001$/, disposition: 'inline' })
      const stored = await fetch(link!)
      t.equal(stored.headers.get('content-type'), 'video/mp4')
      t.ok(Buffer.from(await stored.arrayBuffer()).equals(bytes))
      t.ok((await fetch(file!.thumbnail!)).ok)
      t.equal(files.opened, 2)
    },
  )

  await t.test('a file that is there goes by its link, without another upload', async (t) => {
    const { content } = await sentContent(first, chat, carrying(await files.add('photo'), ''))
    const before = files.opened
    const resent = { kind: 'photo', file: carried(content) } as const
    const again = await sentContent(first, chat, carrying(resent, 'again'))
    t.match(again.content, { media: { file: carried(content) } })
    const { link } = await friend.sees(({ id }) => id === again.native)
    t.match(carried(content), { native: link })
    t.equal(files.opened, before)
  })

  await t.test('a repeated request is one upload and one message', async (t) => {
    const content = carrying(await files.add('voice'), '')
    const before = files.opened
    const id = crypto.randomUUID()
    t.strictSame(await send(content, id), await send(content, id))
    t.equal(files.opened, before + 1)
    await friend.sees((seen) => seen.id === id)
    t.equal(friend.seen.filter((seen) => seen.id === id).length, 1)
  })

  await t.test('what the server does not take is refused before it is read', async (t) => {
    const before = files.opened
    const huge = await files.add('document', Buffer.alloc(largestUpload + 1))
    t.match(await refusalOf(send(carrying(huge, ''))), {
      code: 'bad_request',
      description: 'file is too big',
    })
    t.equal(files.opened, before)
  })

  await t.test('a place goes as a link, and has no caption', async (t) => {
    const place = { kind: 'location', latitude: -35.5, longitude: 51.25, accuracy: 12 } as const
    const { native } = await sentContent(first, chat, place)
    t.equal((await friend.sees(({ id }) => id === native)).body, 'geo:-35.5,51.25;u=12')
    const target = { kind: 'edit_caption', chat, message: native } as const
    const failure = await refusalOf(
      perform(first, { ...target, caption: { text: 'x', entities: [] } }),
    )
    t.match(failure, { description: 'there is no caption in the message to edit' })
    t.match(await refusalOf(send({ ...place, liveSeconds: 60 })), { code: 'bad_request' })
  })

  await t.test('a cut upload sends no message', async (t) => {
    const media = await files.add('document', randomBytes(1_000_000))
    files.breaks.add((media.file as { blob: string }).blob)
    const id = crypto.randomUUID()
    t.match(await refusalOf(send(carrying(media, ''), id)), { code: 'unavailable' })
    await sentContent(first, chat, { kind: 'text', text: 'afterwards', entities: [] })
    await friend.sees(({ body }) => body === 'afterwards', patience())
    t.notOk(friend.seen.some((seen) => seen.id === id))
  })
})

function carried(content: Content) {
  if (content.kind !== 'media') throw new Error('no file')
  return content.media.file
}
