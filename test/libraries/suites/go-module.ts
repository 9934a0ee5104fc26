/** Runs the tests that a Go module has of its own: in a copy, with the addresses and chats of the scene put in. */
import { execFile, spawn } from 'node:child_process'
import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { Missing } from '../toolchains.ts'

const run = promisify(execFile)

export interface GoModule {
  readonly module: string
  readonly version: string
}

/** Changes of one file: each text must be in it. */
export type Changes = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Verdict {
  readonly name: string
  readonly verdict: 'pass' | 'fail' | 'skip'
  readonly said: string
}

const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOWORK: 'off' }

/** Copies the module to the folder, from the module cache or from where its author's repository was laid. */
export async function copyModule({ module, version }: GoModule, folder: string): Promise<void> {
  const laid = process.env.SUITE_SOURCES && join(process.env.SUITE_SOURCES, module)
  const isLaid = laid && (await stat(laid).catch(() => undefined))
  const from = isLaid ? laid : await download(`${module}@${version}`)
  await cp(from, folder, { recursive: true })
  // The module cache is read-only.
  await run('chmod', ['-R', 'u+w', folder])
}

async function download(wanted: string): Promise<string> {
  try {
    const { stdout } = await run('go', ['mod', 'download', '-json', wanted], { env })
    return JSON.parse(stdout).Dir
  } catch (error) {
    const { code, stdout, message } = error as { code?: string; stdout?: string; message: string }
    if (code === 'ENOENT') throw new Missing('go is not installed')
    throw new Missing(stdout ? JSON.parse(stdout).Error : message)
  }
}

export async function change(folder: string, changes: Changes): Promise<void> {
  for (const [file, words] of Object.entries(changes)) {
    let text = await readFile(join(folder, file), 'utf8')
    for (const [old, put] of Object.entries(words)) {
      if (!text.includes(old)) throw new Error(`${file} has no ${old}`)
      text = text.replaceAll(old, put)
    }
    await writeFile(join(folder, file), text)
  }
}

/** The names of tests in whose bodies these words are: those that speak to a server. */
export async function testsWith(folder: string, words: RegExp): Promise<readonly string[]> {
  const names: string[] = []
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('_test.go'))) {
    const text = await readFile(join(folder, file), 'utf8')
    for (const [, name = '', body = ''] of text.matchAll(/^func (Test\w+)\((.*?)^}/gms)) {
      if (words.test(body)) names.push(name)
    }
  }
  return names
}

interface Event {
  readonly Action: string
  readonly Test?: string
  readonly Output?: string
}

interface Running {
  readonly names: readonly string[]
  readonly tags: string
  readonly env: Readonly<Record<string, string>>
}

/** Tests with parts are told by their parts, and by themselves only if they fail without one. */
export async function runTests(folder: string, running: Running): Promise<readonly Verdict[]> {
  const only = `^(${running.names.join('|')})$`
  const words = ['test', '-json', '-count=1', '-vet=off', '-timeout=300s', `-tags=${running.tags}`]
  const options = { cwd: folder, env: { ...env, ...running.env } }
  const child = spawn('go', [...words, '-run', only, '.'], options)
  const strayed: string[] = []
  child.stderr.on('data', (bytes) => strayed.push(String(bytes)))
  const ended: Verdict[] = []
  const said = new Map<string, string>()
  for await (const line of createInterface(child.stdout)) {
    const { Action: action, Test: name = '', Output: output = '' } = JSON.parse(line) as Event
    if (action.endsWith('output')) said.set(name, (said.get(name) ?? '') + output)
    if (name && (action === 'pass' || action === 'fail' || action === 'skip')) {
      ended.push({ name, verdict: action, said: said.get(name) ?? '' })
    }
  }
  if (ended.length === 0) throw new Error(`no test ran: ${said.get('')} ${strayed.join('')}`)
  return ended.filter((one) => {
    const parts = ended.filter(({ name }) => name.startsWith(`${one.name}/`))
    const isTold = parts.some(({ verdict }) => verdict === one.verdict)
    return parts.length === 0 || (one.verdict === 'fail' && !isTold)
  })
}
