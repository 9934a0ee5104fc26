/** A disk that is full while a file comes in: a clear answer, nothing left behind, and room again for what fits. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { callWithFiles } from './files.ts'
import { refused, scene } from './scene.ts'

const run = promisify(execFile)

/** Large enough for the keys and a small file. */
const DISK = '3m'
const TOO_LARGE = 8 * 1024 * 1024

const disk = await mkdtemp(join(tmpdir(), 'chapar-full-'))
const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', disk]).then(
  () => true,
  () => false,
)
t.teardown(async () => {
  if (mounted) await run('umount', ['-l', disk])
  await rm(disk, { recursive: true, force: true })
})

const options = mounted ? {} : { skip: 'a disk of its own cannot be mounted here' }

t.test(
  'an upload that finds no room is refused, whatever becomes of its kind',
  options,
  async (t) => {
    const { service, key, ada } = await scene(t, { env: { DATA_DIR: disk } })
    const left = async () => {
      const found = await readdir(join(disk, 'media'), { recursive: true, withFileTypes: true })
      return found.filter((entry) => entry.isFile()).map(({ name }) => name)
    }
    const send = (method: string, part: string, bytes: Buffer, name: string) =>
      callWithFiles(service.url, key, method, { chat_id: ada.id }, { [part]: { bytes, name } })

    // The mark by which nodes know the folder.
    const before = await left()
    // The first is encrypted while it comes, the second lies in the open until somebody has looked into it.
    for (const [method, part, name] of [
      ['sendDocument', 'document', 'a.bin'],
      ['sendVideo', 'video', 'b.mp4'],
    ] as const) {
      const answer = await send(method, part, randomBytes(TOO_LARGE), name)
      t.match(answer, refused(503, 'Service Unavailable: there is no room for files'), method)
      t.match(answer.body.parameters, { retry_after: 60 })
      t.same(await left(), before, `${method} left nothing`)
    }
    const small = await send('sendDocument', 'document', randomBytes(1_000), 'small.bin')
    t.match(small, { status: 200, body: { ok: true } })
  },
)
