/** Files that others sent are opened: whole, in part, and no longer than somebody reads. */
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { FileStream } from '../../../actors/ports/platform.ts'
import { carries } from './content.ts'
import type { ContractHarness } from './harness.ts'
import { patience } from './recorder.ts'
import { able, need, refusalOf, type Scene, scene } from './scene.ts'

const MEGABYTE = 2 ** 20

export async function fileContract(t: Test, harness: ContractHarness) {
  if (!harness.platform.capabilities.content.includes('document')) return

  await able(t, harness, ['peerContent'], 'a file of three megabytes', async (t) => {
    const stage = await scene(t, harness)
    const bytes = randomBytes(3 * MEGABYTE)
    const file = await received(harness, stage, bytes)
    const { session } = stage.first
    const open = (offset: number, signal = patience()) => session.download(file, offset, signal)

    await t.test('is opened whole', async (t) => {
      const opened = await open(0)
      if (opened.size !== undefined) t.equal(opened.size, bytes.length)
      t.ok((await read(opened)).equals(bytes))
    })

    await t.test('is opened from the middle, and at its end', async (t) => {
      t.ok((await read(await open(MEGABYTE))).equals(bytes.subarray(MEGABYTE)))
      t.equal((await read(await open(bytes.length))).length, 0)
    })

    await t.test('is let go of half-way, and opens again', async (t) => {
      const leaving = new AbortController()
      const { stream } = await open(0, leaving.signal)
      const reader = stream.getReader()
      await reader.read()
      leaving.abort()
      const drain = async () => {
        while (!(await reader.read()).done);
      }
      await t.rejects(drain())
      t.ok((await read(await open(0))).equals(bytes))
    })
  })

  await able(t, harness, ['peerContent', 'emptyFiles'], 'an empty file is empty', async (t) => {
    const stage = await scene(t, harness)
    const file = await received(harness, stage, Buffer.alloc(0))
    t.equal((await read(await stage.first.session.download(file, 0, patience()))).length, 0)
  })

  await t.test('what is no file is refused', async (t) => {
    const { first } = await scene(t, harness)
    const failure = await refusalOf(first.session.download('no file', 0, patience()))
    const description = 'wrong file identifier/HTTP URL specified'
    t.match(failure, { code: 'bad_request', description })
  })
}

/** The native name of a file that the peer sent. */
async function received(harness: ContractHarness, { peer, store }: Scene, bytes: Buffer) {
  const media = await need(harness.file, 'peerContent').call(harness, 'document', bytes)
  const caption = { text: '', entities: [] }
  await need(peer.send, 'peerContent').call(peer, { kind: 'media', media, caption })
  const happening = await store.until(() => store.happenings.find(carries('document')))
  if (happening.kind !== 'message' || happening.message.content.kind !== 'media') {
    throw new Error('not a file')
  }
  const { file } = happening.message.content.media
  if (!('native' in file)) throw new Error('a file on the network has a native name')
  return file.native
}

async function read({ stream }: FileStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
