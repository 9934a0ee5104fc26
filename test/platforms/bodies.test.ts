/** Bodies of files from servers that nobody vouches for: read, half read or not at all, each ends with its connection. */
import { Readable } from 'node:stream'
import t from 'tap'
import type { FileStream } from '../../actors/ports/platform.ts'
import { webStream } from '../../src/media/web-stream.ts'
import { openUrl } from '../../src/net/fetch.ts'
import { createGuardedAgent } from '../../src/net/guard.ts'
import { download } from '../../src/platforms/xmpp/media/download.ts'
import { BodyServer, content, type ShapeName } from '../support/body-server.ts'
import { until } from '../support/client.ts'

/** More than the connections that an agent opens to one server. */
const MANY = 48
const CONNECTIONS = 16

type Open = (shape: ShapeName, offset?: number, signal?: AbortSignal) => Promise<FileStream>

interface Source {
  readonly name: string
  readonly open: (agent: ReturnType<typeof createGuardedAgent>, server: BodyServer) => Open
}

const patience = () => AbortSignal.timeout(20_000)

const sources: readonly Source[] = [
  {
    name: 'a response as it is',
    open: (agent, { url }) => {
      return async (shape, offset = 0, signal = patience()) => {
        const target = `${url}/${BodyServer.path(shape)}`
        const { body } = await openUrl(target, { agent, totalMs: 20_000, signal })
        return { stream: webStream(body, offset) }
      }
    },
  },
  {
    name: 'XMPP',
    open: (agent, { url }) => {
      return (shape, offset = 0, signal = patience()) =>
        download(agent, `${url}/${BodyServer.path(shape)}.jpg`, offset, signal)
    },
  },
]

async function read({ stream }: FileStream): Promise<Buffer> {
  return Buffer.concat(await Readable.fromWeb(stream as never).toArray())
}

for (const { name, open: connect } of sources) {
  t.test(name, async (t) => {
    const server = await BodyServer.start(t)
    const agent = createGuardedAgent({ allowPrivate: true, connections: CONNECTIONS })
    t.teardown(() => agent.destroy())
    const open = connect(agent, server)

    for (const shape of ['at once', 'in pieces', 'in pieces without a length'] as const) {
      await t.test(`what comes ${shape} is read whole, and from its middle`, async (t) => {
        t.ok((await read(await open(shape))).equals(content))
        t.ok((await read(await open(shape, 150_000))).equals(content.subarray(150_000)))
        t.equal((await read(await open(shape, content.length))).length, 0)
      })
    }

    for (const shape of ['breaks off', 'breaks off without a length'] as const) {
      await t.test(`what ${shape} is an error for who reads, and for nobody else`, async (t) => {
        await t.rejects(read(await open(shape)))
        const unread = await open(shape)
        await until(() => server.sockets.size === 0)
        await t.rejects(read(unread), 'also when it broke off before anybody read')
      })
    }

    await t.test('what never ends ends with the signal', async (t) => {
      const leaving = new AbortController()
      const { stream } = await open('never ends', 0, leaving.signal)
      const reader = stream.getReader()
      await reader.read()
      leaving.abort()
      await t.rejects(async () => {
        while (!(await reader.read()).done);
      })
      await until(() => server.sockets.size === 0)
    })

    await t.test('what exceeds its length ends there', async (t) => {
      t.ok((await read(await open('exceeds its length'))).equals(content.subarray(0, 1_000)))
      t.ok((await read(await open('at once'))).equals(content), 'and is nobody else’s answer')
    })

    const all: ShapeName[] = ['at once', 'in pieces', 'in pieces without a length', 'breaks off']
    all.push('breaks off without a length', 'never ends', 'goes on for ever', 'exceeds its length')
    for (const shape of all) {
      await t.test(`what ${shape} is cancelled unread, ${MANY} times over`, async (t) => {
        for (let turn = 0; turn < MANY; turn++) {
          const { stream } = await open(shape)
          await stream.cancel()
        }
        t.ok((await read(await open('at once'))).equals(content), 'the next one is served')
      })

      await t.test(`what ${shape} is cancelled half read, ${MANY} times over`, async (t) => {
        for (let turn = 0; turn < MANY; turn++) {
          const reader = (await open(shape)).stream.getReader()
          await reader.read()
          const waiting = reader.read()
          await reader.cancel()
          await waiting
        }
        t.ok((await read(await open('at once'))).equals(content), 'the next one is served')
      })
    }

    await t.test('nothing of them is left open', async () => {
      await until(() => server.sockets.size <= 1)
    })
  })
}
