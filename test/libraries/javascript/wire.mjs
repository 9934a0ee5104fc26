/** The protocol of test/libraries/bot-process.ts for bots in JavaScript. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { findPackageJSON } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const input = createInterface({ input: process.stdin })
const lines = input[Symbol.asyncIterator]()
const read = async () => {
  const { value } = await lines.next()
  return value === undefined ? undefined : JSON.parse(value)
}

export const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

export class Absent extends Error {}

export const started = async () => (await read()).start

export const versionOf = (name) =>
  JSON.parse(readFileSync(findPackageJSON(name, import.meta.url), 'utf8')).version

/** Waits until a program is ready; whoever started the bot limits the time, and tells it to stop. */
export async function untilReady(isReady) {
  const stop = () => process.exit(1)
  input.once('line', stop)
  while (!(await isReady().catch(() => false))) await sleep(100)
  input.off('line', stop)
}

/** Gives every `{ upload, name }` among the parameters to the library's own form of a file. */
export function withFiles(value, file) {
  if (typeof value !== 'object' || value === null) return value
  if ('upload' in value) return file(value.upload, value.name)
  if (Array.isArray(value)) return value.map((item) => withFiles(item, file))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withFiles(inner, file)]),
  )
}

/** The arguments of a method: some libraries take an empty object for something else. */
export const argumentsOf = (parameters, file) =>
  Object.keys(parameters).length === 0 ? [] : [withFiles(parameters, file)]

/** Downloads from an address that the library made. */
export async function fetchBytes(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${answer.status} for the file`)
  return new Uint8Array(await answer.arrayBuffer())
}

/** A handler that fails, because its own call did, answers 500: the update comes again. Unhandled it would end the bot. */
export async function listen(port, handler) {
  const server = createServer(async (request, response) => {
    try {
      await handler(request, response)
    } catch (error) {
      process.stderr.write(`${error.stack}\n`)
      say({ untaken: error.message })
      if (!response.headersSent) response.writeHead(500)
      response.end()
    }
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
}

/** Listens with a handler of the Fetch API. */
export const listenFetch = (port, handler) =>
  listen(port, async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const url = `http://127.0.0.1:${port}${request.url}`
    const { method, headers } = request
    const answer = await handler(new Request(url, { method, headers, body }))
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
  })

/** Answers commands until it is told to stop; `refusalOf` reads the library's errors. */
export async function serve(version, { call, download, refusalOf }) {
  say({ ready: { version } })
  const answer = async ({ id, call: method, parameters, download: fileId }) => {
    try {
      if (method) return say({ id, result: await call(method, parameters) })
      const bytes = Buffer.from(await download(fileId))
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      say({ id, result: { size: bytes.length, sha256 } })
    } catch (error) {
      if (error instanceof Absent) return say({ id, absent: error.message })
      const refused = refusalOf(error)
      say(refused ? { id, refused } : { id, failed: String(error?.stack ?? error) })
    }
  }
  for (let command = await read(); command && !command.stop; command = await read()) {
    void answer(command)
  }
  process.exit(0)
}
