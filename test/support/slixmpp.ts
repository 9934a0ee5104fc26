/** Clients of another make on the other side of the XMPP tests: slixmpp, in a Python process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A message as slixmpp saw it on the wire. */
export interface Seen {
  readonly id: string
  readonly type: string | null
  readonly from: string
  readonly to: string
  readonly carbon: boolean
  readonly body: string | null
  readonly replaces: string | null
  readonly retracts: string | null
  readonly replyTo: string | null
  /** The part of the body that repeats the message answered, in code points. */
  readonly quoted: readonly [start: number, end: number] | null
  readonly received: string | null
  readonly displayed: string | null
  readonly reactions: { readonly to: string; readonly emojis: readonly string[] } | null
  readonly state: string | null
  readonly forwarded: boolean
  readonly link: string | null
  /** What was told of the file behind the link. */
  readonly file: SeenFile | null
  readonly card: { readonly given: string | null; readonly phone: string | null } | null
  /** What is told of a place besides where it is. */
  readonly place: { readonly title: string | null; readonly address: string | null } | null
  readonly album: string | null
  /** The id that a server or a room gave it. */
  readonly stanzaId: string | null
}

export interface SeenFile {
  readonly disposition: string | null
  readonly type: string | null
  readonly name: string | null
  readonly size: string | null
  readonly thumbnail: string | null
}

interface Line {
  readonly client: string
  readonly message?: Seen
  readonly online?: true
  /** Under this address of an occupant. */
  readonly joined?: string
  readonly left?: string
  /** Why a room let the client not in. */
  readonly refused?: string
  /** The client's own standing in a room that it is in. */
  readonly affiliation?: string
  /** Why the client is of no use. */
  readonly failed?: string
  readonly offline?: true
  /** The question to which an answer came. */
  readonly answered?: string
}

type Extra = readonly [name: string, attributes: Record<string, unknown>]

const script = new URL('slixmpp-clients.py', import.meta.url).pathname
const patience = 30_000
const mucUser = '{http://jabber.org/protocol/muc#user}x'

export class Slixmpp {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #clients = new Map<string, SlixmppClient>()

  constructor() {
    this.#process = spawn('/usr/bin/python3', [script], { stdio: ['pipe', 'pipe', 'pipe'] })
    let complaint = ''
    this.#process.stderr.on('data', (chunk) => {
      complaint = `${complaint}${chunk}`.slice(-2_000)
    })
    this.#process.on('close', () => {
      for (const [name, client] of this.#clients) {
        client.take({ client: name, failed: `slixmpp has ended: ${complaint}` })
      }
    })
    createInterface({ input: this.#process.stdout }).on('line', (text) => {
      const line: Line = JSON.parse(text)
      this.#clients.get(line.client)?.take(line)
    })
  }

  async client(jid: string, password: string, port: number): Promise<SlixmppClient> {
    const name = randomUUID()
    const client = new SlixmppClient(jid, (command) => this.#tell({ client: name, ...command }))
    this.#clients.set(name, client)
    this.#tell({ client: name, do: 'connect', jid, password, port })
    await client.until((line) => line.online)
    return client
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  #tell(command: object) {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`)
  }
}

export class SlixmppClient {
  readonly jid: string
  readonly #rooms = new Set<string>()
  readonly seen: Seen[] = []
  readonly #tell: (command: object) => void
  /** All that was heard of the client. */
  readonly lines: Line[] = []
  readonly #changed = new EventTarget()

  constructor(jid: string, tell: (command: object) => void) {
    this.jid = jid
    this.#tell = tell
  }

  take(line: Line) {
    this.lines.push(line)
    if (line.message) this.seen.push(line.message)
    this.#changed.dispatchEvent(new Event('change'))
  }

  /** Resolves with the message's id. */
  send(to: string, body: string, ...extras: Extra[]): string {
    return this.#write(to, [['body', { text: body }], ...extras])
  }

  /** Under an id of the caller's choice. */
  sendNamed(to: string, id: string, body: string, ...extras: Extra[]) {
    this.#write(to, [['body', { text: body }], ...extras], { id })
  }

  /** From now on what is written to the room goes to all in it. */
  async join(room: string, nick: string): Promise<void> {
    this.#rooms.add(room)
    this.enter(room, nick)
    await this.until(({ joined }) => joined === `${room}/${nick}`)
  }

  /** Tries to; what the room says to it comes later. */
  enter(room: string, nick: string) {
    this.#tell({ do: 'join', occupant: `${room}/${nick}` })
  }

  /** A question of the kind that changes something; resolves with the answer, whatever it says. */
  async ask(to: string, xml: string): Promise<void> {
    const question = randomUUID()
    this.#tell({ do: 'ask', to, xml, question })
    await this.until(({ answered }) => answered === question)
  }

  /** Asks somebody into a room, through it or besides it. */
  invite(room: string, whom: string, how: 'mediated' | 'direct') {
    const mediated = `<invite xmlns="http://jabber.org/protocol/muc#user" to="${whom}"/>`
    if (how === 'mediated') this.#write(room, [[mucUser, { xml: mediated }]], { type: 'normal' })
    else this.#write(whom, [['{jabber:x:conference}x', { jid: room }]], { type: 'normal' })
  }

  /** To somebody in a room, and to nobody else there. */
  whisper(occupant: string, body: string): string {
    return this.send(occupant, body, [mucUser, {}])
  }

  /** Writes "number 0" and on, one after the other. */
  flood(to: string, count: number) {
    this.#tell({ do: 'flood', to, count })
  }

  correct(to: string, target: string, body: string): string {
    return this.send(to, body, ['{urn:xmpp:message-correct:0}replace', { id: target }])
  }

  retract(to: string, target: string): string {
    const fallback = [
      '{urn:xmpp:fallback:0}fallback',
      { for: 'urn:xmpp:message-retract:1' },
    ] as const
    const retract = ['{urn:xmpp:message-retract:1}retract', { id: target }] as const
    return this.send(to, 'A message was retracted.', retract, fallback, [
      '{urn:xmpp:hints}store',
      {},
    ])
  }

  /** Quotes in the body as older clients expect it, and marks the quotation as such. */
  reply(to: string, target: string, body: string): string {
    const quotation = '> 👋 quoted\n'
    const range = { start: '0', end: String([...quotation].length) }
    const reply = ['{urn:xmpp:reply:0}reply', { id: target, to }] as const
    const fallback = ['{urn:xmpp:fallback:0}fallback', { for: 'urn:xmpp:reply:0', range }] as const
    return this.send(to, quotation + body, reply, fallback)
  }

  /** In place of what was said before; with nothing more, that is taken back. */
  react(to: string, target: string, ...emojis: string[]): string {
    const reactions = emojis.map((emoji) => `<reaction>${emoji}</reaction>`).join('')
    const xml = `<reactions xmlns="urn:xmpp:reactions:0" id="${target}">${reactions}</reactions>`
    return this.#write(to, [
      ['', { xml }],
      ['{urn:xmpp:hints}store', {}],
    ])
  }

  state(to: string, state: string): string {
    return this.#write(to, [[`{http://jabber.org/protocol/chatstates}${state}`, {}]])
  }

  /** Says what has become of a message: that it has arrived, or was shown. */
  confirm(to: string, target: string, how: 'received' | 'displayed'): string {
    const namespace = how === 'received' ? 'urn:xmpp:receipts' : 'urn:xmpp:chat-markers:0'
    return this.#write(to, [[`{${namespace}}${how}`, { id: target }]])
  }

  sees(matches: (message: Seen) => boolean, signal?: AbortSignal): Promise<Seen> {
    return this.until((line) => line.message && matches(line.message) && line.message, signal)
  }

  async disconnect(): Promise<void> {
    this.#tell({ do: 'disconnect' })
    await this.until((line) => line.offline)
  }

  /** Resolves with the first truthy value that `find` yields for a line, past or to come. */
  async until<Value>(
    find: (line: Line) => Value | undefined | false,
    signal: AbortSignal = AbortSignal.timeout(patience),
  ): Promise<Value> {
    for (let next = 0; ; ) {
      for (; next < this.lines.length; next++) {
        const line = this.lines[next]
        if (line?.failed) throw new Error(`${this.jid}: ${line.failed}`)
        const found = line && find(line)
        if (found) return found
      }
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const giveUp = () => reject(signal.reason)
      this.#changed.addEventListener('change', resolve, { once: true })
      signal.addEventListener('abort', giveUp, { once: true })
      await promise.finally(() => signal.removeEventListener('abort', giveUp))
    }
  }

  #write(
    to: string,
    children: readonly Extra[],
    { type = this.#rooms.has(to) ? 'groupchat' : 'chat', id = randomUUID() as string } = {},
  ): string {
    this.#tell({ do: 'write', type, to, id, children })
    return id
  }
}
