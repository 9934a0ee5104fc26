/** A real XMPP server for tests: jabberd2 from the machine's packages, on free ports, in a directory of its own. It knows the standards of 2004 and little of what came later. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { accepting, freePort } from './ports.ts'
import { slixmppMissing, type XmppServer } from './xmpp-server.ts'

/** In the order in which they are started: each of them finds the one before. */
const parts = ['router', 'sm', 'c2s'] as const
type Part = (typeof parts)[number]

const schema = '/usr/share/doc/jabberd2/db-setup.sqlite.gz'
/** Debian puts the modules beside the libraries of the machine's architecture. */
const [library] = globSync('/usr/lib/*/jabberd2')
const program = (part: Part) => `/usr/sbin/jabberd2-${part}`

/** Why the tests over jabberd2 cannot run here; absent when they can. */
export const jabberd2Missing =
  library && existsSync(schema) && parts.every((part) => existsSync(program(part)))
    ? slixmppMissing
    : 'jabberd2 is not installed'

const startMilliseconds = 60_000

export class Jabberd2 implements XmppServer {
  readonly domain = 'xmpp.test'
  readonly port: number
  /** What still comes for the last stream ends one that has got its place by then. */
  readonly restMilliseconds = 250
  /** It takes no files: nobody listens there. */
  readonly httpPort: number
  readonly #routerPort: number
  readonly #directory: string
  #processes: ChildProcess[] = []

  private constructor(ports: readonly [number, number, number], directory: string) {
    const [port, httpPort, routerPort] = ports
    this.port = port
    this.httpPort = httpPort
    this.#routerPort = routerPort
    this.#directory = directory
  }

  static async start(): Promise<Jabberd2> {
    const directory = await mkdtemp(join(tmpdir(), 'chapar-jabberd2-'))
    const server = new Jabberd2([await freePort(), await freePort(), await freePort()], directory)
    try {
      await server.#configure()
      await server.up()
      return server
    } catch (cause) {
      // Its caller has nothing to stop.
      await server.stop()
      throw cause
    }
  }

  get server(): string {
    return `xmpp://127.0.0.1:${this.port}`
  }

  async up(): Promise<void> {
    for (const part of parts) {
      await writeFile(this.#log(part), '')
      const words = ['-c', join(this.#directory, `${part}.xml`)]
      const started = spawn(program(part), words, { stdio: 'ignore' })
      this.#processes.push(started)
      const ended = once(started, 'exit').then(async () => {
        const log = await readFile(this.#log(part), 'utf8')
        throw new Error(`jabberd2 has ended: ${log.slice(-500)}`)
      })
      ended.catch(() => undefined)
      await Promise.race([ended, this.#isReady(part)])
    }
  }

  async kill(): Promise<void> {
    const running = this.#processes.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    )
    this.#processes = []
    const exits = running.map((process) => once(process, 'exit'))
    for (const process of running) process.kill('SIGKILL')
    await Promise.all(exits)
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  async register(user: string, password: string): Promise<string> {
    const jid = `${user}@${this.domain}`
    this.#store((database) => {
      const account = 'INSERT INTO authreg (username, realm, password) VALUES (?, ?, ?)'
      database.prepare(account).run(user, this.domain, password)
      database.prepare('INSERT INTO active ("collection-owner", time) VALUES (?, 1)').run(jid)
    })
    return jid
  }

  /** jabberd2 does not notice, and leaves those online who know the old one: its streams are ended by a restart. */
  async setPassword(user: string, password: string): Promise<void> {
    this.#store((database) => {
      database.prepare('UPDATE authreg SET password = ? WHERE username = ?').run(password, user)
    })
    await this.kill()
    await this.up()
  }

  async delete(user: string): Promise<void> {
    this.#store((database) => {
      database.prepare('DELETE FROM authreg WHERE username = ?').run(user)
      database
        .prepare('DELETE FROM active WHERE "collection-owner" = ?')
        .run(`${user}@${this.domain}`)
    })
    await this.kill()
    await this.up()
  }

  get #database() {
    return join(this.#directory, 'jabberd2.db')
  }

  #log(part: Part): string {
    return join(this.#directory, `${part}.log`)
  }

  #store(work: (database: DatabaseSync) => void) {
    const database = new DatabaseSync(this.#database, { timeout: 5_000 })
    try {
      work(database)
    } finally {
      database.close()
    }
  }

  /** The router listens before it routes: what it says in its log counts. */
  async #isReady(part: Part): Promise<void> {
    if (part === 'router') return accepting(this.#routerPort, startMilliseconds)
    if (part === 'c2s') await accepting(this.port, startMilliseconds)
    const signal = AbortSignal.timeout(startMilliseconds)
    const told = part === 'sm' ? `[${this.domain}] online` : '[c2s] online'
    while (!(await readFile(this.#log('router'), 'utf8')).includes(told)) {
      await delay(50, undefined, { signal })
    }
  }

  async #configure(): Promise<void> {
    const tables = await promisify(gunzip)(await readFile(schema))
    this.#store((database) => database.exec(tables.toString()))
    const places = {
      directory: this.#directory,
      port: this.port,
      routerPort: this.#routerPort,
      database: this.#database,
      domain: this.domain,
    }
    for (const part of parts) {
      await writeFile(join(this.#directory, `${part}.xml`), configurations[part](places))
    }
    const users = '<users><user><name>jabberd</name><secret>secret</secret></user></users>'
    await writeFile(join(this.#directory, 'users.xml'), users)
    await writeFile(join(this.#directory, 'filter.xml'), '<filter/>')
  }
}

interface Places {
  readonly directory: string
  readonly port: number
  readonly routerPort: number
  readonly database: string
  readonly domain: string
}

/** The parts in their order, as Debian ships them, but for the ports, the names and the files. */
const configurations: Readonly<Record<Part, (places: Places) => string>> = {
  router: ({ directory, routerPort }) => `<router>
  <id>router</id>
  <pidfile>${directory}/router.pid</pidfile>
  ${logOf('router', directory)}
  <local>
    <ip>127.0.0.1</ip>
    <port>${routerPort}</port>
    <users>${directory}/users.xml</users>
    <secret>secret</secret>
  </local>
  <aci>
    <acl type='all'><user>jabberd</user></acl>
    <filter>${directory}/filter.xml</filter>
  </aci>
</router>`,
  sm: ({ directory, database, domain, ...ports }) => `<sm>
  <id>sm</id>
  <pidfile>${directory}/sm.pid</pidfile>
  ${routerAt(ports)}
  ${logOf('sm', directory)}
  <local><id>${domain}</id></local>
  <storage>
    <path>${library}</path>
    <driver>sqlite</driver>
    <sqlite><dbname>${database}</dbname><busy-timeout>5000</busy-timeout></sqlite>
  </storage>
  <modules>
    <path>${library}</path>
    ${chains.map(([id, modules]) => chainOf(id, modules)).join('\n    ')}
  </modules>
</sm>`,
  c2s: ({ directory, database, domain, port, ...ports }) => `<c2s>
  <id>c2s</id>
  <pidfile>${directory}/c2s.pid</pidfile>
  ${routerAt(ports)}
  ${logOf('c2s', directory)}
  <local>
    <id>${domain}</id>
    <ip>127.0.0.1</ip>
    <port>${port}</port>
  </local>
  <io><limits><stanzasize>65535</stanzasize></limits></io>
  <authreg>
    <path>${library}</path>
    <module>sqlite</module>
    <mechanisms><sasl><plain/><digest-md5/></sasl></mechanisms>
    <sqlite>
      <dbname>${database}</dbname>
      <busy-timeout>5000</busy-timeout>
      <password_type><plaintext/></password_type>
    </sqlite>
  </authreg>
</c2s>`,
}

const logOf = (part: Part, directory: string) =>
  `<log type='file'><file>${directory}/${part}.log</file></log>`

const routerAt = ({ routerPort }: Pick<Places, 'routerPort'>) =>
  `<router><ip>127.0.0.1</ip><port>${routerPort}</port><user>jabberd</user><pass>secret</pass></router>`

const chainOf = (id: string, modules: string) =>
  `<chain id='${id}'>${modules
    .split(' ')
    .map((name) => `<module>${name}</module>`)
    .join('')}</chain>`

const chains: readonly (readonly [id: string, modules: string])[] = [
  ['sess-start', 'status'],
  ['sess-end', 'status iq-last'],
  [
    'in-sess',
    'validate status privacy roster vacation iq-vcard iq-ping iq-private disco amp offline announce presence deliver',
  ],
  ['in-router', 'session validate presence privacy'],
  ['out-router', 'privacy'],
  ['pkt-sm', 'iq-last iq-ping iq-time iq-version amp disco announce help echo status presence'],
  ['pkt-user', 'roster presence disco iq-vcard amp deliver vacation offline iq-last'],
  ['pkt-router', 'session disco'],
  ['user-load', 'active roster roster-publish privacy vacation'],
  ['user-create', 'active template-roster'],
  [
    'user-delete',
    'active announce offline privacy roster vacation status iq-last iq-private iq-vcard',
  ],
  ['disco-extend', 'iq-version help'],
]
