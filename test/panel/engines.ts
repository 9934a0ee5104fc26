/** Firefox and WebKit as the system packages them; Playwright drives builds of its own only. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { accepting, freePort } from '../support/ports.ts'

export interface Engine {
  open(url: string): Promise<void>
  /** The value of an expression in the page. */
  read<T>(expression: string): Promise<T>
  /** Keys and pointers as WebDriver describes them. */
  act(sources: readonly object[]): Promise<void>
  /** Gives a file to the input that a selector finds. */
  attach(selector: string, path: string): Promise<void>
  /** What scripts failed with, and what the content policy stopped. */
  complaints(): Promise<readonly string[]>
}

interface Testing {
  teardown(work: () => Promise<void>): void
}

const firefox = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((place) => existsSync(place))
const webkitDriver = '/usr/bin/WebKitWebDriver'
const [miniBrowser] = globSync('/usr/lib/*/webkit2gtk-4.1/MiniBrowser')
const xvfb = '/usr/bin/Xvfb'

/** Why there is none; to be given as the reason of a skipped test. */
export const noFirefox = firefox === undefined && 'needs Firefox: apt-get install firefox-esr'
export const noWebKit =
  !(miniBrowser && existsSync(webkitDriver) && existsSync(xvfb)) &&
  'needs WebKit: apt-get install webkit2gtk-driver xvfb'

const size = { width: 1280, height: 860 }
const patience = 60_000

/** The first line that matches, of what a process prints. */
async function lineOf(stream: Readable, pattern: RegExp): Promise<string> {
  for await (const line of createInterface({
    input: stream,
    signal: AbortSignal.timeout(patience),
  })) {
    const found = pattern.exec(line)?.[1]
    if (found === undefined) continue
    // The process would stop at a full pipe.
    stream.resume()
    return found
  }
  throw new Error(`nothing said ${pattern}`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Asks nothing of the network, and shows no page of its own. */
const preferences = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.server': '',
  'ui.prefersReducedMotion': 1,
}

type Result = Readonly<Record<string, unknown>>

/** The answer to a command, or an event. */
interface Message {
  readonly id?: number
  readonly result?: Result
  readonly error?: string
  readonly message?: string
  readonly method?: string
  readonly params?: { readonly level: string; readonly text: string }
}

/** WebDriver BiDi, which Firefox speaks without a driver. */
class Firefox implements Engine {
  readonly #complaints: string[] = []
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<Result>>()
  #context = ''
  #commands = 0

  private constructor(url: string) {
    this.#socket = new WebSocket(url)
    this.#socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(data)))
  }

  static async start(t: Testing): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), 'chapar-firefox-'))
    const lines = Object.entries(preferences).map(
      ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
    )
    await writeFile(join(profile, 'user.js'), lines.join('\n'))
    const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile]
    const child = spawn(firefox ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'] })
    t.teardown(async () => {
      await end(child)
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    })
    const url = await lineOf(child.stderr, /listening on (ws:\S+)/)
    const browser = new Firefox(`${url}/session`)
    await browser.#begin()
    return browser
  }

  async #begin() {
    await once(this.#socket, 'open')
    await this.#send('session.new', { capabilities: {} })
    await this.#send('session.subscribe', { events: ['log.entryAdded'] })
    const { contexts } = await this.#send('browsingContext.getTree', {})
    this.#context = (contexts as [{ context: string }])[0].context
    await this.#send('browsingContext.setViewport', { context: this.#context, viewport: size })
  }

  #take({ id, method, params, result, error, message }: Message) {
    if (method === 'log.entryAdded' && params?.level === 'error') this.#complaints.push(params.text)
    const waiting = this.#waiting.get(id ?? 0)
    if (!waiting) return
    this.#waiting.delete(id ?? 0)
    if (result) waiting.resolve(result)
    else waiting.reject(new Error(`${error}: ${message}`))
  }

  #send(method: string, params: object): Promise<Result> {
    const id = ++this.#commands
    const waiting = Promise.withResolvers<Result>()
    this.#waiting.set(id, waiting)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return waiting.promise
  }

  async open(url: string) {
    const wait = 'complete'
    await this.#send('browsingContext.navigate', { context: this.#context, url, wait })
  }

  async read<T>(expression: string) {
    const answer = await this.#send('script.evaluate', {
      // As text, since objects come in a form of their own.
      expression: `(async () => JSON.stringify((await (${expression})) ?? null))()`,
      target: { context: this.#context },
      awaitPromise: true,
    })
    const { result, exceptionDetails } = answer as {
      result?: { value: string }
      exceptionDetails?: { text: string }
    }
    if (!result) throw new Error(exceptionDetails?.text)
    return JSON.parse(result.value) as T
  }

  async act(actions: readonly object[]) {
    await this.#send('input.performActions', { context: this.#context, actions })
  }

  async attach(selector: string, path: string) {
    const { result } = (await this.#send('script.evaluate', {
      expression: `document.querySelector(${JSON.stringify(selector)})`,
      target: { context: this.#context },
      awaitPromise: false,
    })) as { result: { sharedId: string } }
    const element = { sharedId: result.sharedId }
    await this.#send('input.setFiles', { context: this.#context, element, files: [path] })
  }

  async complaints() {
    return this.#complaints
  }
}

/** Its driver does not tell what is on the console: the page itself keeps it, over reloads too. */
const listening = `(() => {
  const keep = (text) => {
    const kept = JSON.parse(sessionStorage.complaints ?? '[]')
    sessionStorage.complaints = JSON.stringify([...kept, text])
  }
  addEventListener('error', (event) => keep(event.message))
  addEventListener('unhandledrejection', (event) => keep(String(event.reason)))
  addEventListener('securitypolicyviolation', (event) =>
    keep(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile))
  console.error = (...texts) => keep(texts.join(' '))
})()`

/** WebDriver over HTTP: Debian builds WebKit without BiDi. It has no windowless mode. */
class WebKit implements Engine {
  readonly #session: string

  private constructor(session: string) {
    this.#session = session
  }

  static async start(t: Testing): Promise<WebKit> {
    const screen = ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp']
    const display = spawn(xvfb, screen, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
    // Without its screen the browser ends, too.
    t.teardown(() => end(display))
    const name = await lineOf(display.stdio[3] as Readable, /^(\d+)$/)
    const port = await freePort()
    const env = {
      ...process.env,
      DISPLAY: `:${name}`,
      // The language of this system is the page's: one that there is not.
      LC_ALL: 'C.UTF-8',
      GSK_RENDERER: 'cairo',
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    }
    const driver = spawn(webkitDriver, [`--port=${port}`], {
      env,
      stdio: 'ignore',
    })
    t.teardown(() => end(driver))
    await accepting(port)
    const { sessionId } = (await call(`http://127.0.0.1:${port}/session`, {
      capabilities: {
        alwaysMatch: {
          'webkitgtk:browserOptions': {
            binary: miniBrowser,
            args: ['--automation'],
          },
        },
      },
    })) as { sessionId: string }
    const browser = new WebKit(`http://127.0.0.1:${port}/session/${sessionId}`)
    await browser.#call('/window/rect', size)
    return browser
  }

  #call(path: string, body: object) {
    return call(this.#session + path, body)
  }

  async open(url: string) {
    await this.#call('/url', { url })
    await this.read(listening)
  }

  async read<T>(expression: string) {
    const script = `const done = arguments[0]
      Promise.resolve().then(() => (${expression})).then((value) => done({ value }),
        (error) => done({ error: String(error) }))`
    const answer = await this.#call('/execute/async', { script, args: [] })
    const { value, error } = answer as { value?: T; error?: string }
    if (error !== undefined) throw new Error(error)
    return (value ?? null) as T
  }

  async act(actions: readonly object[]) {
    await this.#call('/actions', { actions })
  }

  async attach(selector: string, path: string) {
    const found = await this.#call('/element', { using: 'css selector', value: selector })
    const [element] = Object.values(found as Record<string, string>)
    await this.#call(`/element/${element}/value`, { text: path })
  }

  complaints() {
    return this.read<string[]>('JSON.parse(sessionStorage.complaints ?? "[]")')
  }
}

async function call(url: string, body: object): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  const { value } = (await answer.json()) as { value: { error?: string; message?: string } }
  if (!answer.ok) throw new Error(`${value.error}: ${value.message}`)
  return value
}

export const engines = { Firefox, WebKit }
