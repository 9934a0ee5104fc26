/** Files that another data centre has: found there, and no failure on the way is remembered or goes on for ever. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { carries } from './contract/content.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

const OTHER = 4
const bytes = randomBytes(300_000)

t.test('a file of another data centre', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { files, delivery } = network

  /** Somebody has sent a file that this data centre has. */
  const received = async (t: Test, centre: number) => {
    const { person, friend, store, listen } = await live(t, stage)
    const { session } = await listen()
    const media = stage.file('document', bytes)
    const caption = { text: '', entities: [] }
    const sent = stage.outgoing({ kind: 'media', media, caption })
    if (sent.media._ !== 'messageMediaDocument') throw new Error('not a file')
    files.centres.set(`${sent.media.document?.id}`, centre)
    delivery.send(friend, person, { message: '', media: sent.media })
    const told = await store.until(() => store.happenings.find(carries('document')))
    if (told.kind !== 'message' || told.message.content.kind !== 'media') throw new Error('no file')
    const { file } = told.message.content.media
    const name = 'native' in file ? file.native : ''
    const read = async () => {
      const { stream } = await session.download(name, 0, patience())
      return Buffer.concat(await Readable.fromWeb(stream as never).toArray())
    }
    return { session, read }
  }

  await t.test('is fetched there', async (t) => {
    const { read } = await received(t, OTHER)
    t.ok((await read()).equals(bytes))
  })

  await t.test('is fetched again after the account was not let in there', async (t) => {
    const { read } = await received(t, OTHER)
    // Nobody may wait for the first one: it is asked again before the file is.
    network.importsRefused = Number.POSITIVE_INFINITY
    await t.rejects(read(), { message: /AUTH_BYTES_INVALID/ })
    network.importsRefused = 0
    t.ok((await read()).equals(bytes))
  })

  await t.test('is an error where nobody knows the data centre', async (t) => {
    const { read } = await received(t, 9)
    await t.rejects(read())
    const other = await received(t, OTHER)
    t.ok((await other.read()).equals(bytes), 'and others are fetched')
  })

  await t.test('is no longer looked for once the session is over', async (t) => {
    const { session, read } = await received(t, OTHER)
    network.isConfigLost = true
    t.teardown(() => {
      network.isConfigLost = false
    })
    const before = network.requests('help.getConfig')
    const reading = t.rejects(read())
    await until(() => network.requests('help.getConfig') > before)
    const said: unknown[] = []
    t.intercept(console, 'error', { value: (what: unknown) => void said.push(what) })
    await session.close({ signOut: false })
    await reading
    await pause(200)
    t.strictSame(said, [])
  })
})
