/** Pictures whose senders tell nothing of them have their measures all the same, if their server is quick. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { createGuardedAgent } from '../../src/net/guard.ts'
import { measured, pictureSize } from '../../src/platforms/xmpp/media/measure.ts'
import fc from '../support/fast-check.ts'

const picture = (format: 'jpeg' | 'png' | 'gif' | 'webp', width = 37, height = 23) =>
  sharp({ create: { width, height, channels: 3, background: 'red' } })
    .withExif({ IFD0: { ImageDescription: 'x'.repeat(20_000) } })
    .toFormat(format)
    .toBuffer()

t.test('the measures stand at the beginning of the file', async (t) => {
  for (const format of ['jpeg', 'png', 'gif', 'webp'] as const) {
    t.match(pictureSize(await picture(format)), { width: 37, height: 23 }, format)
  }
  t.equal(pictureSize(Buffer.from('<html>')), undefined)
  const endless = await picture('png')
  endless.writeUInt32BE(2 ** 32 - 1, 16)
  t.equal(pictureSize(endless), undefined, 'a side that no library can hold is none')
  const whole = await picture('jpeg')
  t.equal(pictureSize(whole.subarray(0, 1_000)), undefined)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat({ max: 40 }), (noise, start) => {
      const bytes = Buffer.from(whole.subarray(0, 64))
      bytes.set(noise.subarray(0, 64 - start), start)
      pictureSize(bytes)
    }),
  )
})

t.test('they are read from a link', async (t) => {
  const bytes = await picture('jpeg')
  const link = await serving(t, bytes)
  const agent = createGuardedAgent({ allowPrivate: true, connections: 4 })
  t.teardown(() => agent.close())
  const names = ['good', 'slow', 'none', 'huge']
  const [good, slow, none, huge] = await measured(
    names.map((name) => photoAt(`${link}/${name}.jpg`)),
    agent,
    new AbortController().signal,
  )
  t.match(good, { message: { content: { media: { width: 37, height: 23, size: bytes.length } } } })
  const media = { width: 37, height: 23, size: undefined }
  t.match(huge, { message: { content: { media } } }, 'a size that no library can hold is none')
  for (const other of [slow, none]) t.strictSame(other, photoAt(linkOf(other)))
})

async function serving(t: Test, bytes: Buffer): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/none.jpg') return response.writeHead(404).end()
    const length = request.url === '/huge.jpg' ? 2 ** 40 : bytes.length
    response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': length })
    if (request.url === '/slow.jpg') return response.write(bytes.subarray(0, 100))
    if (request.url === '/huge.jpg') return response.write(bytes)
    response.end(bytes)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

const photoAt = (link: string): Happening => {
  const chat = { native: 'friend@there.test', surface: 'private', firstName: 'friend' } as const
  const media = { kind: 'photo', file: { native: link } } as const
  const content = { kind: 'media', media, caption: { text: '', entities: [] } } as const
  const message = { native: 'm', chat, at: 0, content }
  return { kind: 'message', sourceKey: 'k', direction: 'incoming', at: 0, message }
}

function linkOf(happening: Happening | undefined): string {
  const content = happening?.kind === 'message' ? happening.message.content : undefined
  return content?.kind === 'media' && 'native' in content.media.file
    ? content.media.file.native
    : ''
}
