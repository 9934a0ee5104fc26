/** Folders for temporary files: processes beside each other keep their own, and what a crash leaves is removed. */
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { TemporaryFiles } from '../../src/media/temporary.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'

const LOOK_MS = 20
/** The number of a user of the system who owns nothing. */
const NOBODY = 65_534

// Each test closes what it opens at its own end: teardowns run after the folder of the test is gone, and a look between them
// would make it again.

t.test('a process does not touch what another one of its place uses', async (t) => {
  const place = join(t.testdir(), 'temporary')
  const old = await TemporaryFiles.open(place, quietLogger, LOOK_MS)
  const upload = old.file()
  await writeFile(upload, 'an upload under way')
  const next = await TemporaryFiles.open(place, quietLogger, LOOK_MS)
  await writeFile(next.file(), 'another one')
  await pause(20 * LOOK_MS)
  t.ok(existsSync(upload))
  await old.close()
  t.notOk(existsSync(upload))
  t.equal((await readdir(place)).length, 1, 'its folder goes with it')
  await next.close()
  t.same(await readdir(place), [])
})

t.test('what nobody uses any more is removed after a while', async (t) => {
  const place = join(t.testdir(), 'temporary')
  const crashed = join(place, 'crashed')
  await mkdir(crashed, { recursive: true })
  await writeFile(join(crashed, 'half an upload'), '')
  await writeFile(join(place, 'of an earlier version'), '')
  const files = await TemporaryFiles.open(place, quietLogger, LOOK_MS)
  await pause(2 * LOOK_MS)
  t.ok(existsSync(crashed), 'not before it was seen untouched for a while')
  await until(async () => (await readdir(place)).length === 1)
  t.ok(existsSync(dirname(files.file())))
  await files.close()
})

t.test('a folder that others removed is made again', async (t) => {
  const files = await TemporaryFiles.open(join(t.testdir(), 'temporary'), quietLogger, LOOK_MS)
  await rm(dirname(files.file()), { recursive: true })
  await until(() => existsSync(dirname(files.file())))
  const folder = await files.folder()
  await writeFile(folder.file(), 'goes on')
  await files.close()
})

t.test('a folder that cannot be removed keeps no other one, and is told of', async (t) => {
  const place = join(await mkdtemp(join(tmpdir(), 'chapar-temporary-')), 'place')
  const [locked, crashed] = [join(place, 'a-locked'), join(place, 'crashed')]
  for (const folder of [locked, crashed]) await mkdir(folder, { recursive: true })
  await writeFile(join(locked, 'of somebody else'), '')
  await writeFile(join(crashed, 'half an upload'), '')
  await chmod(locked, 0o555)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    for (const path of [dirname(place), place, crashed, join(crashed, 'half an upload')]) {
      await chown(path, NOBODY, NOBODY)
    }
    process.seteuid?.(NOBODY)
  }
  t.teardown(async () => {
    if (isRoot) process.seteuid?.(0)
    await chmod(locked, 0o755)
    await rm(dirname(place), { recursive: true })
  })
  const told: unknown[] = []
  const logger = { warn: (fields: object) => void told.push(fields) }
  const files = await TemporaryFiles.open(place, logger, LOOK_MS)
  await until(() => !existsSync(crashed))
  t.ok(existsSync(join(locked, 'of somebody else')))
  t.match(told, [{ path: locked, err: { code: 'EACCES' } }])
  await files.close()
})
