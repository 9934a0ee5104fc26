/** A real XMPP server for tests: Prosody from the machine's packages, on free ports, in a directory of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { accepting, freePort } from './ports.ts'
import {
  largestUpload,
  slixmppMissing,
  type XmppServer,
  type XmppServerOptions,
} from './xmpp-server.ts'

/** Why the tests over Prosody cannot run here; absent when they can. */
export const prosodyMissing =
  existsSync('/usr/bin/prosody') && existsSync('/usr/bin/prosodyctl')
    ? slixmppMissing
    : 'prosody is not installed'

/** Why rooms with moderators who take messages away cannot be had here; absent when they can. */
export const moderationMissing = existsSync('/usr/lib/prosody/modules/mod_muc_moderation')
  ? prosodyMissing
  : 'prosody-modules is not installed'

export interface ProsodyOptions extends XmppServerOptions {
  /** Moderators of rooms take messages of others away (XEP-0425). */
  readonly moderation?: boolean
  /** Takes no password that is told to it, and makes them this slow to guess. */
  readonly scramIterations?: number
  /** Takes only passwords that are told to it. */
  readonly plainOnly?: boolean
}

interface Ports {
  readonly port: number
  readonly httpPort: number
}

const run = promisify(execFile)
const commandTimeout = 60_000

export class Prosody implements XmppServer {
  readonly domain = 'xmpp.test'
  readonly port: number
  /** Where it stores the files that people share. */
  readonly httpPort: number
  readonly #directory: string
  readonly #config: string
  #process: ChildProcess | undefined

  private constructor(ports: Ports, directory: string) {
    this.port = ports.port
    this.httpPort = ports.httpPort
    this.#directory = directory
    this.#config = join(directory, 'prosody.cfg.lua')
  }

  static async start(options: ProsodyOptions = {}): Promise<Prosody> {
    const directory = await mkdtemp(join(tmpdir(), 'chapar-prosody-'))
    const prosody = new Prosody({ port: await freePort(), httpPort: await freePort() }, directory)
    await writeFile(prosody.#config, configuration(prosody, directory, options))
    await prosody.up()
    return prosody
  }

  get server(): string {
    return `xmpp://127.0.0.1:${this.port}`
  }

  async up(): Promise<void> {
    this.#process = spawn('/usr/bin/prosody', ['-F', '--config', this.#config], { stdio: 'ignore' })
    await accepting(this.port)
  }

  /** Ends the process without a goodbye. */
  async kill(): Promise<void> {
    if (!this.#process || this.#process.exitCode !== null || this.#process.signalCode) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.#directory, { recursive: true, force: true })
  }

  async register(user: string, password: string): Promise<string> {
    await this.#control('register', user, this.domain, password)
    return `${user}@${this.domain}`
  }

  /** Nothing of it is heard, and its connections stay; or it goes on. */
  freeze(isFrozen: boolean): void {
    this.#process?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT')
  }

  /**
   * Many accounts at once, which `register` would take minutes for. They share a salt, so that the server has not to derive a
   * key for each.
   */
  async seed(users: readonly string[], password: string): Promise<void> {
    const escaped = (name: string) =>
      name.replace(/[^a-z0-9]/gi, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
    const folder = join(this.#directory, 'data', escaped(this.domain), 'accounts')
    await mkdir(folder, { recursive: true })
    const account = storedLogin(password)
    for (const user of users) await writeFile(join(folder, `${escaped(user)}.dat`), account)
  }

  /** Ends the account's streams too. */
  async setPassword(user: string, password: string): Promise<void> {
    await this.#control('shell', 'user', 'password', `${user}@${this.domain}`, password)
  }

  /** Ends the account's streams too. */
  async delete(user: string): Promise<void> {
    await this.#control('shell', 'user', 'delete', `${user}@${this.domain}`)
  }

  /** As a room's server does that is set up anew; one that is stopped in good order tells of it. */
  async forgetOccupant(room: string, account: string, tells: boolean): Promise<void> {
    await this.#control('shell', `> ${forgetOccupant(room, account, tells)}`)
  }

  async #control(...words: string[]): Promise<void> {
    await run('/usr/bin/prosodyctl', ['--config', this.#config, ...words], {
      timeout: commandTimeout,
    })
  }
}

/** How it salts a password of `seed`, as a client is told it. */
export const seededSalt = {
  digest: 'sha1',
  salt: 'of-all-seeded-accounts',
  iterations: 10_000,
} as const

function storedLogin(password: string): string {
  const { digest, salt, iterations } = seededSalt
  const salted = pbkdf2Sync(password, salt, iterations, 20, digest)
  const proof = (name: string) => createHmac(digest, salted).update(name).digest()
  const stored = createHash(digest).update(proof('Client Key')).digest('hex')
  return `return { ["iteration_count"] = ${iterations}; ["salt"] = "${salt}"; ["stored_key"] = "${stored}"; ["server_key"] = "${proof('Server Key').toString('hex')}"; };\n`
}

/** `mod_limits` stays out: its throttle makes large stanzas take half a minute. */
const configuration = (
  { port, httpPort }: Ports,
  directory: string,
  {
    hibernationSeconds = 60,
    quickArchive = false,
    withoutArchive = false,
    withoutBookmarks = false,
    moderation = false,
    ...login
  }: ProsodyOptions,
) => `
pidfile = "${directory}/prosody.pid"
data_path = "${directory}/data"
certificates = "${directory}"
log = { info = "${directory}/prosody.log" }
run_as_root = ${process.getuid?.() === 0}
admin_socket = "${directory}/admin.sock"
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
c2s_direct_tls_ports = {}
s2s_ports = {}
s2s_direct_tls_ports = {}
http_ports = { ${httpPort} }
http_interfaces = { "127.0.0.1" }
https_ports = {}
component_ports = {}
modules_enabled = { "roster", "saslauth", "disco", "posix", "ping", "offline", "presence", "message", "iq",
  "carbons", ${withoutArchive ? '' : '"mam", '}"smacks", "csi_simple", "blocklist", ${withoutBookmarks ? '' : '"pep", "vcard4", "vcard_legacy", '} "admin_shell" }
modules_disabled = { "s2s", "tls" }
authentication = "internal_hashed"
${loginOnly(login)}
default_storage = "internal"
storage = { ${quickArchive ? 'archive = "memory", offline = "memory"' : ''} }
storage_archive_item_limit = 20000
max_archive_query_results = 250
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
default_archive_policy = true
archive_expires_after = "never"
smacks_hibernation_time = ${hibernationSeconds}
VirtualHost "xmpp.test"
Component "rooms.xmpp.test" "muc"
  modules_enabled = { ${withoutArchive ? '' : '"muc_mam", '}${moderation ? '"muc_moderation"' : ''} }
  muc_room_locking = false
  muc_room_default_public_jids = true
Component "upload.xmpp.test" "http_file_share"
  http_host = "127.0.0.1"
  http_external_url = "http://127.0.0.1:${httpPort}/"
  http_file_share_size_limit = ${largestUpload}
Component "forgetful.xmpp.test" "muc"
  muc_room_locking = false
`

function loginOnly({ scramIterations, plainOnly }: ProsodyOptions): string {
  if (plainOnly) return 'disable_sasl_mechanisms = { "SCRAM-SHA-1" }'
  if (scramIterations === undefined) return ''
  return `disable_sasl_mechanisms = { "PLAIN" }
password_hash = "SHA-256"
default_iteration_count = ${scramIterations}`
}

const forgetOccupant = (room: string, account: string, tells: boolean) =>
  [
    `local host = prosody.hosts["${room.split('@')[1]}"]`,
    `local room = host.modules.muc.get_room_from_jid("${room}")`,
    'for nick, occupant in pairs(room._occupants) do',
    `  if occupant.bare_jid == "${account}" then`,
    '    for real in pairs(occupant.sessions) do',
    '      room._jid_nick[real] = nil',
    `      if ${tells} then`,
    '        local left = require"util.stanza".presence({ type="unavailable", from=nick, to=real })',
    '          :tag("x", { xmlns="http://jabber.org/protocol/muc#user" })',
    '          :tag("item", { affiliation="none", role="none" }):up()',
    '          :tag("status", { code="110" }):up():tag("status", { code="332" })',
    '        prosody.core_route_stanza(host, left)',
    '      end',
    '    end',
    '    room._occupants[nick] = nil',
    '  end',
    'end',
  ].join(' ')
