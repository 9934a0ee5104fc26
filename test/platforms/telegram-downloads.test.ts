/** Files of Telegram whose readers are slow, or leave: nothing is fetched that nobody takes. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Content } from '../../machines/model/content.ts'
import { until } from '../support/client.ts'
import { carries } from './contract/content.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

const bytes = randomBytes(16 * 2 ** 20)
const MANY = 48

const stage = await Stage.start(t)
const { files, delivery } = stage.network
const { person, friend, store, listen } = await live(t, stage)
const { session } = await listen()
const media = { ...stage.file('document', bytes), name: 'as it was called.bin' }
const content: Content = { kind: 'media', media, caption: { text: '', entities: [] } }
const { text, media: sent } = stage.outgoing(content)
if (sent._ !== 'messageMediaDocument' || sent.document?._ !== 'document') {
  throw new Error('not a document')
}
const { document } = sent
/** The name of a file of this size. */
const told = async (size: number) => {
  delivery.send(friend, person, {
    message: text,
    media: { ...sent, document: { ...document, size } },
  })
  const native = await store.until(() => {
    const happening = store.happenings.filter(carries('document')).at(-1)
    const content = happening?.kind === 'message' ? happening.message.content : undefined
    if (content?.kind !== 'media' || content.media.size !== size) return undefined
    return 'native' in content.media.file ? content.media.file.native : undefined
  })
  return native
}
const name = await told(bytes.length)

const open = async (offset = 0, signal = patience(), native = name) =>
  (await session.download(native, offset, signal)).stream
const read = async (stream: ReadableStream<Uint8Array>) =>
  Buffer.concat(await Readable.fromWeb(stream as never).toArray())

t.test('a file is read whole, and from its middle', async (t) => {
  t.ok((await read(await open())).equals(bytes))
  t.ok((await read(await open(5_000_001))).equals(bytes.subarray(5_000_001)))
})

t.test('so is one of more than 2 GB, which comes in larger pieces', async (t) => {
  const large = await told(2_097_152_001)
  const stream = await open(5_000_001, patience(), large)
  // The network has no more of it.
  t.ok((await read(stream)).equals(bytes.subarray(5_000_001)))
})

t.test('it is called as its sender called it', async (t) => {
  const download = await session.download(name, 0, patience())
  await download.stream.cancel()
  t.equal(download.name, media.name)
})

t.test('a picture whose size is below zero has none', async (t) => {
  const { media: shown } = stage.outgoing({ ...content, media: stage.file('photo', bytes) })
  if (shown._ !== 'messageMediaPhoto' || shown.photo?._ !== 'photo') throw new Error('no photo')
  const sizes = shown.photo.sizes.map((one) => (one._ === 'photoSize' ? { ...one, size: -5 } : one))
  delivery.send(friend, person, {
    message: text,
    media: { ...shown, photo: { ...shown.photo, sizes } },
  })
  const native = await store.until(() => {
    const happening = store.happenings.find(carries('photo'))
    const told = happening?.kind === 'message' ? happening.message.content : undefined
    if (told?.kind !== 'media' || !('native' in told.media.file)) return undefined
    return told.media.file.native
  })
  const download = await session.download(native, 0, patience())
  await download.stream.cancel()
  t.equal(download.size, undefined)
})

t.test('nothing is asked for before somebody reads', async (t) => {
  const before = files.reads
  for (let turn = 0; turn < MANY; turn++) await (await open()).cancel()
  t.equal(files.reads, before)
})

t.test('one that is stopped between two pieces ends, although nothing is on its way', async (t) => {
  const leaving = new AbortController()
  const reader = (await open(0, leaving.signal)).getReader()
  await reader.read()
  for (let before = -1; files.reads > before; await pause(500)) before = files.reads
  leaving.abort()
  const drained = (async () => {
    while (!(await reader.read()).done);
  })()
  const late = pause(20_000, 'it still waits', { ref: false })
  t.not(await Promise.race([drained.catch(() => 'ended'), late]), 'it still waits')
})

t.test('a slow reader is waited for, and one that leaves ends the download', async (t) => {
  const before = files.reads
  const reader = (await open()).getReader()
  const { value } = await reader.read()
  const part = value?.length ?? 0
  await pause(300)
  const asked = (files.reads - before) * part
  t.ok(asked < bytes.length / 2, `${asked} of ${bytes.length} bytes were asked for`)
  await reader.cancel()
  // What was under way may still be counted; then there is no more of it.
  for (let seen = -1; files.reads > seen; await pause(500)) seen = files.reads
  const fetched = (files.reads - before) * part
  t.ok(fetched < bytes.length / 2, `${fetched} of ${bytes.length} bytes were fetched in all`)
  t.ok((await read(await open())).equals(bytes), 'and the next one has all of it')
})

t.test('readers that leave, again and again, stall nobody', async (t) => {
  files.silentFrom = 1
  for (let turn = 0; turn < MANY; turn++) {
    const reader = (await open()).getReader()
    await reader.read()
    const waiting = reader.read()
    await reader.cancel()
    await waiting
  }
  files.silentFrom = Number.POSITIVE_INFINITY
  t.ok((await read(await open())).equals(bytes))
})

t.test('what breaks off is an error for who reads', async (t) => {
  files.goneFrom = bytes.length / 2
  await t.rejects(read(await open()))
  files.goneFrom = Number.POSITIVE_INFINITY
})

t.test('what never ends ends with the signal', async (t) => {
  files.silentFrom = bytes.length / 2
  const leaving = new AbortController()
  const reading = read(await open(0, leaving.signal))
  const seen = files.reads
  await until(() => files.reads > seen + 8)
  leaving.abort()
  await t.rejects(reading)
  files.silentFrom = Number.POSITIVE_INFINITY
})
