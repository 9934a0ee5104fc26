/** What a program that works on hostile bytes can reach and use up. */
import { once } from 'node:events'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../../src/media/child.ts'
import { findConfinement, type Needs } from '../../src/media/confinement.ts'
import { forever } from './rig.ts'

const searchPath = process.env.PATH ?? ''
const shell = '/bin/sh'
const skip = process.platform === 'win32' ? 'Windows has no such limits' : false

/** Stands for both programs: a shell can be asked to do what a captured ffmpeg would do. */
const program = join(await mkdtemp(join(tmpdir(), 'chapar-confined-')), 'captured')
await writeFile(program, `#!${shell}\n[ "$1" = -version ] && exit 0\neval "$1"\n`, { mode: 0o755 })
const tools = { ffmpeg: program, ffprobe: program }
t.teardown(() => rm(join(program, '..'), { recursive: true, force: true }))

const { hidesFiles } = await findConfinement(tools, searchPath)
const needs: Needs = { reads: [], cpuSeconds: 10, memoryBytes: 2 ** 30, fileBytes: 1_000_000 }

async function attempt(script: string, more: Partial<Needs> = {}, path = searchPath) {
  const confinement = await findConfinement(tools, path)
  const command = confinement.command(program, [script], { ...needs, ...more })
  return await run(command.program, command.args, { takes: 120_000, signal: forever })
}

t.test('limits of the operating system', { skip }, async (t) => {
  const limited = (script: string, more?: Partial<Needs>) => attempt(script, more, '/nowhere')

  t.test('its time on the processor ends', async (t) => {
    const { output } = await limited('(while :; do :; done); echo $?', { cpuSeconds: 1 })
    t.match(`${output}`, /^1(37|52)\n$/, 'ended by a signal, before the time limit of the run')
  })

  t.test('it gets no more memory', async (t) => {
    const { succeeded } = await limited('dd if=/dev/zero of=/dev/null bs=300M count=1', {
      memoryBytes: 200_000_000,
    })
    t.notOk(succeeded)
    t.ok((await limited('dd if=/dev/zero of=/dev/null bs=300M count=1')).succeeded)
  })

  t.test('it writes no larger file', async (t) => {
    const target = join(program, '..', 'large')
    const { succeeded } = await limited(`head -c 3000000 /dev/zero > ${target}`, { writes: target })
    t.notOk(succeeded)
    t.ok((await readFile(target)).length <= 1_000_448)
  })

  t.test('it opens few files, leaves no core, and stands behind others', async (t) => {
    const { output } = await limited('ulimit -n; ulimit -c; nice; env | grep -v ^PWD= | wc -l')
    t.same(`${output}`.trim().split(/\s+/).slice(0, 3), ['64', '0', `${getPriority() + 5}`])
  })

  const elsewhere = process.platform === 'linux' ? false : 'only Linux chooses by this number'
  t.test('it is the first to end where memory ends', { skip: elsewhere }, async (t) => {
    t.equal(`${(await limited('cat /proc/self/oom_score_adj')).output}`, '1000\n')
  })
})

const noWalls = hidesFiles ? false : 'bubblewrap is not installed, or may not work here'

t.test('walls', { skip: noWalls }, async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'chapar-walls-')))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [secret, given] = [join(folder, 'keys'), join(folder, 'given')]
  await writeFile(secret, 'the key of everything')
  await writeFile(given, 'a film')
  const work = await mkdtemp(join(folder, 'work-'))
  const target = join(work, 'made')

  t.test('its own file is there, the secret beside it is not', async (t) => {
    const own = await attempt(`cat ${given}`, { reads: [given] })
    t.equal(`${own.output}`, 'a film')
    const other = await attempt(`cat ${secret}`, { reads: [given] })
    t.notOk(other.succeeded)
    t.match(other.complaint, /No such file/)
  })

  t.test('it writes into its own folder and nowhere else', async (t) => {
    t.ok((await attempt(`echo made > ${target}`, { writes: target })).succeeded)
    t.equal(await readFile(target, 'utf8'), 'made\n')
    t.notOk((await attempt(`echo x > ${given}`, { reads: [given], writes: target })).succeeded)
    t.equal(await readFile(given, 'utf8'), 'a film')
  })

  t.test('it sees no other process', async (t) => {
    t.notOk((await attempt('cat /proc/*/environ')).succeeded)
  })

  t.test('it reaches no server', async (t) => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const node = process.execPath
    const connect = `require("net").connect(${port}, "127.0.0.1").on("error", () => process.exit(7)).on("connect", () => process.exit(0))`
    // The test runner has Node.js load modules of its own, which are not there.
    const reaching = `unset NODE_OPTIONS; ${node} -e '${connect}'; echo $?`
    const roomy = { reads: [node], memoryBytes: 2 ** 42 }
    t.equal(`${(await attempt(reaching, roomy)).output}`, '7\n')
    t.equal(
      `${(await attempt(reaching, roomy, '/nowhere')).output}`,
      '0\n',
      'without walls it does',
    )
  })
})

t.test('where bubblewrap does not work, the limits remain', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-no-walls-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'bwrap'), `#!${shell}\nexit 1\n`, { mode: 0o755 })
  const confinement = await findConfinement(tools, folder)
  t.equal(confinement.hidesFiles, false)
  const { output } = await attempt('ulimit -n', {}, folder)
  t.equal(`${output}`.trim(), '64')
})
