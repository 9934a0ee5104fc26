/** Media by address: what is fetched, what is refused, and that nothing tells of the inside. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { usualLimits } from '../../src/media/media.ts'
import { refused } from '../actors/refused.ts'
import { quietLogger } from '../support/logger.ts'
import { forever } from './rig.ts'
import { drawn, serviceRig } from './service-rig.ts'

const png = await drawn(60, 40).png().toBuffer()
const pages: Record<string, RequestListener> = {
  '/cat.png': (_, response) => response.setHeader('content-type', 'image/png').end(png),
  '/moved': (_, response) => response.writeHead(302, { location: '/cat.png' }).end(),
  '/page': (_, response) => response.end('<html><body>no picture</body></html>'),
  '/paper.pdf': (_, response) => response.end('%PDF-1.4\n'),
  '/notes.txt': (_, response) => response.end('text'),
  '/endless': (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  },
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': '1000000' }).write(png)
    setImmediate(() => response.destroy())
  },
  '/slow': (_, response) => {
    response.writeHead(200).write('.')
  },
}
const server = createServer((asked, response) => {
  const page = pages[asked.url ?? '']
  if (page) page(asked, response)
  else response.writeHead(404).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})
const base = `127.0.0.1:${port}`

t.test('where private addresses are allowed', async (t) => {
  const limits = { ...usualLimits, urlTakes: 3_000 }
  const { service, userId, left } = await serviceRig(t, { limits })
  const fetched = (kind: 'photo' | 'document' | 'video_note' | 'sticker', url: string) =>
    service.ingest({ userId, kind, source: { from: 'url', url } }, forever)

  t.test('a picture is fetched, with and without a scheme, over a redirect', async (t) => {
    for (const url of [`http://${base}/cat.png`, `${base}/cat.png`, `http://${base}/moved`]) {
      t.match(await fetched('photo', url), { media: { kind: 'photo', width: 60, height: 40 } }, url)
    }
    t.match(await fetched('document', `http://${base}/paper.pdf`), {
      media: { kind: 'document', mime: 'application/pdf', name: 'paper.pdf' },
    })
  })

  t.test('everything else is refused in the reference’s words, and nothing is kept', async (t) => {
    const before = await left()
    const nothing = 'failed to get HTTP URL content'
    const wrong = (mime: string, kind: string, taken: string) =>
      `wrong type of the web page content: ${mime} is not taken from an address as a ${kind}, only ${taken}`
    const pictures = 'JPEG, PNG, WebP, GIF and TIFF pictures'
    const stickers = 'WebP, PNG, JPEG and GIF pictures, WebM video and TGS'
    const papers = 'GIF, PDF and ZIP files (upload others)'
    const cases = [
      ['photo', `http://${base}/missing.png`, nothing],
      ['photo', 'http://127.0.0.1:1/shut.png', nothing],
      ['photo', `http://${base}/cut`, nothing],
      ['photo', `http://${base}/slow`, nothing],
      ['photo', `http://${base}/endless`, 'file is too big'],
      ['photo', `http://${base}/page`, wrong('application/octet-stream', 'photo', pictures)],
      ['sticker', `http://${base}/paper.pdf`, wrong('application/pdf', 'sticker', stickers)],
      ['document', `http://${base}/notes.txt`, wrong('text/plain', 'document', papers)],
      ['video_note', `http://${base}/cat.png`, "can't upload file by URL"],
      [
        'photo',
        'ftp://example.com/cat.png',
        'invalid file HTTP URL specified: Unsupported URL protocol',
      ],
      [
        'photo',
        'http://user:pass@example.com/',
        'invalid file HTTP URL specified: Host is invalid',
      ],
      ['photo', 'http://exa mple.com/', 'invalid file HTTP URL specified: Host is invalid'],
    ] as const
    for (const [kind, url, description] of cases) {
      await t.test(url, (t) => refused(t, fetched(kind, url), { code: 'bad_request', description }))
    }
    t.same(await left(), before)
  })
})

t.test('the operator learns why an address gave nothing, without its path', async (t) => {
  const lines: object[] = []
  const logger = {
    ...quietLogger,
    info: (fields: object, message: string) => lines.push({ ...fields, message }),
  }
  const { service, userId } = await serviceRig(t, { logger })
  const url = 'http://127.0.0.1:1/secret-path'
  const source = { from: 'url', url } as const
  await t.rejects(service.ingest({ userId, kind: 'photo', source }, forever))
  const line = lines.find((line) => 'host' in line)
  t.match(line, {
    host: '127.0.0.1:1',
    message: 'a file could not be fetched',
    err: /ECONNREFUSED/,
  })
  t.notMatch(JSON.stringify(line), /secret-path/)
})

t.test('slow addresses of one user leave connections to the same host to others', async (t) => {
  const { service, userId, database } = await serviceRig(t)
  const [other] = await database.query<{ id: number }>(
    `insert into app_user (phone_index, phone_sealed) values ('other', '') returning id`,
  )
  const leaving = new AbortController()
  const slow = { from: 'url', url: `http://${base}/slow` } as const
  const fetching = Array.from({ length: 30 }, () =>
    service.ingest({ userId, kind: 'photo', source: slow }, leaving.signal),
  )
  const ended = Promise.any(fetching.map((one) => one.catch(() => 'one of the slow has ended')))
  const cat = { from: 'url', url: `http://${base}/cat.png` } as const
  const got = service.ingest({ userId: other?.id ?? 0, kind: 'photo', source: cat }, forever)
  t.match(await Promise.race([got, ended]), { media: { kind: 'photo', width: 60 } })
  leaving.abort()
  t.match(
    await Promise.allSettled(fetching),
    fetching.map(() => ({ status: 'rejected' })),
  )
})

t.test('where they are not, the inside looks like nothing at all', async (t) => {
  const { service, userId } = await serviceRig(t, { guard: {} })
  const description = 'failed to get HTTP URL content'
  for (const url of [
    `http://${base}/cat.png`,
    'http://127.0.0.1:1/',
    'http://169.254.169.254/a.png',
  ]) {
    const ingesting = service.ingest(
      { userId, kind: 'photo', source: { from: 'url', url } },
      forever,
    )
    await refused(t, ingesting, { code: 'bad_request', description })
  }
})
