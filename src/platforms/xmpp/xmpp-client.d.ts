/** The parts of @xmpp/client 0.14 that are used here; the package ships no types of its own. */
declare module '@xmpp/client' {
  import type { EventEmitter } from 'node:events'
  import type { Socket } from 'node:net'
  import type { TLSSocket } from 'node:tls'

  export interface Element {
    readonly name: string
    readonly attrs: Record<string, string | undefined>
    readonly children: (Element | string)[]
    is(name: string, xmlns?: string): boolean
    /** Without a prefix. */
    getName(): string
    getNS(): string | undefined
    getChild(name: string, xmlns?: string): Element | undefined
    getChildren(name: string, xmlns?: string): Element[]
    getChildElements(): Element[]
    getChildText(name: string, xmlns?: string): string | null
    getText(): string
    append(...nodes: (Element | string)[]): void
    remove(name: string, xmlns?: string): this
    toString(): string
  }

  type Attributes = Record<string, string | number | undefined>
  type Child = Element | string | false | null | undefined

  /** A string in place of the attributes is the namespace. */
  export function xml(name: string, attrs?: Attributes | string, ...children: Child[]): Element

  export interface StreamManagement extends EventEmitter {
    enabled: boolean
    /** Whether the server was asked to enable it. */
    enableSent: boolean
    /** Empty while there is nothing to resume; undefined where the server keeps no broken stream. */
    id: string | undefined
    /** How many of the stanzas received are handled. */
    inbound: number
    /** How many of the stanzas sent are acknowledged. */
    outbound: number
    /** Sent and not acknowledged. */
    outbound_q: { readonly stanza: Element; readonly stamp: string }[]
    timeout: number
    requestAckInterval: number
  }

  export interface Credentials {
    readonly username: string
    readonly password: string
  }

  type Authenticate = (credentials: Credentials, mechanism: string | undefined) => Promise<void>

  /** A way to log in; of what goes through here each character stands for a byte. */
  export interface Mechanism {
    readonly name: string
    readonly clientFirst: boolean
    challenge(text: string): void
    response(credentials: Credentials): string | Promise<string>
  }

  /** One that is encrypted from the first byte wraps that of Node.js. */
  export type LibrarySocket = EventEmitter & { connect(parameters: object): void } & (
      | Socket
      | { readonly socket: TLSSocket | null; readonly secure: true }
    )

  /** A class; the library calls nothing but what its prototype has. */
  export interface Way {
    readonly prototype: {
      readonly Socket: new () => LibrarySocket
      readonly Parser: object
      /** The options of `net.connect` or `tls.connect`; undefined for an address of another form. */
      socketParameters(service: string): { readonly host: string } | undefined
    }
    new (): Way['prototype']
  }

  export interface Client extends EventEmitter {
    status: string
    timeout: number
    readonly jid: { toString(): string } | null
    readonly socket: LibrarySocket | null
    readonly parser: { readonly root: Element | null; write(text: string): void } | null
    readonly reconnect: { stop(): void }
    readonly streamManagement: StreamManagement
    readonly saslFactory: {
      readonly _mechs: object[]
      /** Called with `new`. */
      use(name: string, mechanism: () => Mechanism): void
    }
    /** The ways to connect, of which the first is taken that knows what a service's address means. */
    transports: Way[]
    _findTransport(service: string): Way | undefined
    /** Those of the way that was found for it. */
    socketParameters(service: string): { readonly host: string } | undefined
    /** The client takes its events from now on. */
    _attachSocket(socket: LibrarySocket): void
    isSecure(): boolean
    connect(service: string): Promise<void>
    open(options: { domain: string }): Promise<Element>
    send(element: Element): Promise<void>
    sendMany(elements: readonly Element[]): Promise<void>
    /** Everything that goes to the server passes here. */
    write(text: string): Promise<void>
    start(): Promise<unknown>
    stop(): Promise<unknown>
    _onData(chunk: Buffer | string): void
    _onSeeOtherHost(error: Error): void
  }

  export function client(options: {
    service: string
    domain: string
    /** Asked when there is nothing to resume. */
    resource: () => Promise<string>
    username: string
    userAgent?: Element
    credentials: (authenticate: Authenticate, mechanisms: string[]) => Promise<void>
  }): Client
}
