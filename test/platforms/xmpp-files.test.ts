/** Files that others share by their link are fetched from any place in them, and passed on. */
import type { RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { listen, urlOf } from '../support/http-server.ts'
import { patience } from './contract/recorder.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const bytes = Buffer.from('0123456789'.repeat(20_000))

/** Knows ranges under `/ranges`, and nothing of them elsewhere. */
async function fileServer(t: Test): Promise<string> {
  const respond: RequestListener = (request, response) => {
    if (request.url?.includes('gone')) return response.writeHead(404).end()
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const isPart = from > 0 && request.url?.startsWith('/ranges')
    const rest = isPart ? bytes.subarray(from) : bytes
    response.writeHead(isPart ? 206 : 200, { 'content-length': rest.length }).end(rest)
  }
  return urlOf(await listen(t, respond))
}

t.test('XMPP files', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)
  const { friend, account, chat, store, first } = await scene(t, network)
  const server = await fileServer(t)

  await t.test('a shared file is read from where it is wanted', async (t) => {
    const read = async (link: string, offset: number) => {
      const { stream, size } = await first.session.download(link, offset, patience())
      t.equal(size, bytes.length)
      return Buffer.from(await new Response(stream).arrayBuffer())
    }
    for (const path of ['/ranges/a.bin', '/whole/a.bin']) {
      t.ok((await read(server + path, 0)).equals(bytes))
      t.ok((await read(server + path, 150_001)).equals(bytes.subarray(150_001)))
    }
    t.match(await refusalOf(first.session.download(`${server}/gone`, 0, patience())), {
      code: 'bad_request',
    })
  })

  await t.test('it is called as its link ends', async (t) => {
    const nameAt = async (path: string) => {
      const { stream, name } = await first.session.download(server + path, 0, patience())
      await stream.cancel()
      return name
    }
    t.equal(await nameAt('/whole/1f/my%20report%20%D8%A7.pdf?v=1'), 'my report ا.pdf')
    t.equal(await nameAt('/whole/100%.txt'), '100%.txt', 'also where it is escaped wrongly')
    t.equal(await nameAt('/whole/'), undefined)
  })

  await t.test('a shared file is reported and passed on as one', async (t) => {
    const link = `${server}/photo.png`
    const id = friend.send(account.jid, link, ['{jabber:x:oob}x', { url: link }])
    const happening = await store.until(() =>
      store.happenings.find((one) => one.kind === 'message' && one.message.native === id),
    )
    t.match(happening, { message: { content: { media: { kind: 'photo', name: 'photo.png' } } } })
    const copy = { kind: 'copy', chat, from: chat, message: id } as const
    t.match(await perform(first, copy), { message: { content: { media: { kind: 'photo' } } } })
    await friend.sees(({ body, link: seen }) => body === link && seen === link)
  })
})
