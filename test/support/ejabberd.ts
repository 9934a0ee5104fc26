/** A real XMPP server for tests: ejabberd from the machine's packages, on free ports, in a directory of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { accepting, freePort } from './ports.ts'
import {
  largestUpload,
  slixmppMissing,
  type XmppServer,
  type XmppServerOptions,
} from './xmpp-server.ts'

const erlang = '/usr/bin/erl'
const openssl = '/usr/bin/openssl'
/** Debian puts the Erlang libraries of ejabberd beside those of the machine's architecture. */
const [library] = globSync('/usr/lib/*/ejabberd-*/ebin/ejabberd.beam')

/** Why the tests over ejabberd cannot run here; absent when they can. */
export const ejabberdMissing =
  library && existsSync(erlang) && existsSync(openssl)
    ? slixmppMissing
    : 'ejabberd is not installed'

interface Ports {
  readonly port: number
  /** TLS from the first byte on, with a certificate that nobody signed. */
  readonly tlsPort: number
  readonly httpPort: number
}

const run = promisify(execFile)
const commandTimeout = 60_000
/** Mnesia holds back what it writes for up to 2 s: a kill would take back accounts and archived messages. */
const syncMilliseconds = 50

export class Ejabberd implements XmppServer {
  readonly domain = 'xmpp.test'
  readonly port: number
  readonly tlsPort: number
  readonly httpPort: number
  readonly #directory: string
  #process: ChildProcess | undefined

  private constructor({ port, tlsPort, httpPort }: Ports, directory: string) {
    this.port = port
    this.tlsPort = tlsPort
    this.httpPort = httpPort
    this.#directory = directory
  }

  static async start(options: XmppServerOptions = {}): Promise<Ejabberd> {
    // A new directory for each server: an archive in Mnesia stops to store at 2 GB.
    const directory = await mkdtemp(join(tmpdir(), 'chapar-ejabberd-'))
    const ports = { port: await freePort(), tlsPort: await freePort(), httpPort: await freePort() }
    const ejabberd = new Ejabberd(ports, directory)
    try {
      await ejabberd.#certify()
      const configuration = configurationOf(ports, directory, options)
      await writeFile(join(directory, 'ejabberd.yml'), JSON.stringify(configuration))
      await ejabberd.up()
      return ejabberd
    } catch (cause) {
      // Its caller has nothing to stop.
      await ejabberd.stop()
      throw cause
    }
  }

  get server(): string {
    return `xmpp://127.0.0.1:${this.port}`
  }

  /** The certificate of `tlsPort`, as a file. */
  get certificate(): string {
    return join(this.#directory, 'certificate.pem')
  }

  get logFile(): string {
    return join(this.#directory, 'ejabberd.log')
  }

  /** Without `ejabberdctl`, which insists on its own user, and without a name that two servers would share. */
  async up(): Promise<void> {
    const spool = JSON.stringify(join(this.#directory, 'spool'))
    const pause = `timer:sleep(${syncMilliseconds})`
    const sync = `spawn(fun Sync() -> mnesia:sync_log(), ${pause}, Sync() end).`
    const words = ['-noinput', '-mnesia', 'dir', spool, '-s', 'ejabberd', '-eval', sync]
    this.#process = spawn(erlang, words, {
      cwd: this.#directory,
      env: {
        PATH: process.env.PATH,
        HOME: this.#directory,
        ERL_LIBS: join(library ?? '', '../../..'),
        ERL_CRASH_DUMP: join(this.#directory, 'erl_crash.dump'),
        EJABBERD_CONFIG_PATH: join(this.#directory, 'ejabberd.yml'),
        EJABBERD_LOG_PATH: this.logFile,
      },
      stdio: 'ignore',
    })
    const ports = [this.port, this.tlsPort, this.httpPort]
    const ended = once(this.#process, 'exit').then(async () => {
      const log = await readFile(this.logFile, 'utf8').catch(() => 'no log')
      throw new Error(`ejabberd has ended: ${log.slice(-500)}`)
    })
    ended.catch(() => undefined)
    await Promise.race([ended, Promise.all(ports.map((port) => accepting(port)))])
  }

  async kill(): Promise<void> {
    if (!this.#process || this.#process.exitCode !== null || this.#process.signalCode) return
    await delay(2 * syncMilliseconds)
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  async register(user: string, password: string): Promise<string> {
    await this.command('register', { user, host: this.domain, password })
    return `${user}@${this.domain}`
  }

  async setPassword(user: string, password: string): Promise<void> {
    await this.command('change_password', { user, host: this.domain, newpass: password })
    // Unlike Prosody, ejabberd leaves those online who know the old one.
    await this.command('kick_user', { user, host: this.domain })
  }

  async delete(user: string): Promise<void> {
    await this.command('unregister', { user, host: this.domain })
  }

  /** A command as `ejabberdctl` has it, such as `kick_session`; resolves with its answer. */
  async command(name: string, parameters: object): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.httpPort}/api/${name}`, {
      method: 'POST',
      body: JSON.stringify(parameters),
      signal: AbortSignal.timeout(commandTimeout),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`ejabberd refused ${name}: ${JSON.stringify(answer)}`)
    return answer
  }

  async #certify(): Promise<void> {
    const file = this.certificate
    const request = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${this.domain}`
    const names = `subjectAltName=DNS:${this.domain},DNS:localhost,IP:127.0.0.1`
    const words = [...request.split(' '), '-addext', names, '-keyout', file, '-out', `${file}.crt`]
    await run(openssl, words, { timeout: commandTimeout })
    // ejabberd wants both in one file.
    await run('/bin/sh', ['-c', 'cat "$1.crt" >> "$1"', 'sh', file], { timeout: commandTimeout })
  }
}

/** As Debian's, but for the archive, which it leaves to the administrator, and limits on the speed of writers. */
function configurationOf(
  { port, tlsPort, httpPort }: Ports,
  directory: string,
  { hibernationSeconds = 60, withoutArchive = false, withoutBookmarks = false }: XmppServerOptions,
) {
  const shipped = modulesAsShipped.filter((name) => !withoutBookmarks || name !== 'mod_avatar')
  const here = { ip: '127.0.0.1' }
  const loopback = { ip: '127.0.0.0/8' }
  const clients = { ...here, module: 'ejabberd_c2s', max_stanza_size: 262_144 }
  const http = { '/api': 'mod_http_api', '/upload': 'mod_http_upload' }
  const upload = {
    host: 'upload.xmpp.test',
    docroot: join(directory, 'upload'),
    put_url: `http://127.0.0.1:${httpPort}/upload`,
    max_size: largestUpload,
    access: 'all',
  }
  const rooms = (host: string, options: object) => ({
    mod_muc: { host, access_mam: 'all', default_room_options: options },
  })
  return {
    hosts: ['xmpp.test', 'forgetful.test'],
    loglevel: 'info',
    log_rotate_count: 0,
    certfiles: [join(directory, 'certificate.pem')],
    auth_password_format: 'scram',
    disable_sasl_mechanisms: ['digest-md5', 'X-OAUTH2'],
    listen: [
      { ...clients, port },
      { ...clients, port: tlsPort, tls: true },
      { ...here, port: httpPort, module: 'ejabberd_http', request_handlers: http },
    ],
    api_permissions: { tests: { from: ['mod_http_api'], who: loopback, what: ['*'] } },
    append_host_config: {
      'xmpp.test': {
        modules: {
          ...rooms('rooms.xmpp.test', { mam: !withoutArchive, anonymous: false }),
          mod_http_upload: upload,
        },
      },
      'forgetful.test': { modules: rooms('forgetful.xmpp.test', { mam: false }) },
    },
    modules: {
      ...Object.fromEntries(shipped.map((name) => [name, {}])),
      ...(!withoutArchive && { mod_mam: { default: 'always', assume_mam_usage: true } }),
      ...(!withoutBookmarks && { mod_pubsub: personalEvents }),
      mod_stream_mgmt: { resend_on_timeout: 'if_offline', resume_timeout: hibernationSeconds },
    },
  }
}

const personalEvents = {
  plugins: ['flat', 'pep'],
  force_node_config: { 'storage:bookmarks': { access_model: 'whitelist' } },
}

const modulesAsShipped = [
  'mod_adhoc',
  'mod_admin_extra',
  'mod_avatar',
  'mod_blocking',
  'mod_caps',
  'mod_carboncopy',
  'mod_client_state',
  'mod_disco',
  'mod_http_api',
  'mod_last',
  'mod_muc_admin',
  'mod_offline',
  'mod_ping',
  'mod_privacy',
  'mod_private',
  'mod_push',
  'mod_push_keepalive',
  'mod_roster',
  'mod_vcard',
  'mod_vcard_xupdate',
  'mod_version',
]
