/** An XMPP server that lets anybody in and then says whatever a test wants: what a real one never would. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'

const sasl = 'xmlns="urn:ietf:params:xml:ns:xmpp-sasl"'
const bind = 'xmlns="urn:ietf:params:xml:ns:xmpp-bind"'
const streamManagement = 'xmlns="urn:xmpp:sm:3"'

export interface Question {
  readonly id: string
  readonly text: string
  readonly to: string | undefined
}

export interface Stub {
  /** Encrypts with these from the first byte (`xmpps`), or once asked to (`xmpp`). */
  readonly tls?: { readonly scheme: 'xmpp' | 'xmpps'; readonly key: string; readonly cert: string }
  /** What is said in place of a greeting, which a farewell may be. */
  refuse?(): string | undefined
  /** What is answered to a question; the empty answer when absent. */
  answer(question: Question): string | undefined
  /** How it is written what the server says; as it stands when absent. */
  spells?(text: string): string
  /** All that the client says. */
  hears?(text: string, socket: Socket): void
  /** What is answered to the wish to resume a stream; a refusal when absent. */
  resume?(): string
  /** The client is there: it has sent its presence. */
  present?(write: (text: string) => void, cut: () => void): void
}

export async function startXmppStub(jid: string, stub: Stub) {
  const { scheme = 'xmpp' } = stub.tls ?? {}
  const server = createServer((socket) =>
    serve(scheme === 'xmpps' ? encrypted(socket, stub) : socket, jid, stub),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { server: `${scheme}://127.0.0.1:${port}`, stop: () => stop(server) }
}

function encrypted(socket: Socket, { tls }: Stub): TLSSocket {
  socket.on('error', () => undefined)
  const secureContext = createSecureContext({ key: tls?.key, cert: tls?.cert })
  return new TLSSocket(socket, { isServer: true, secureContext })
}

function serve(socket: Socket, jid: string, stub: Stub) {
  let isKnown = false
  let mayEncrypt = stub.tls !== undefined && !(socket instanceof TLSSocket)
  const write = (text: string) => socket.writable && socket.write(stub.spells?.(text) ?? text)
  // Clients may hang up at any time.
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    // The greeting of TLS, which a server takes for malformed XML.
    if (chunk[0] === 0x16) return write(`${header}${farewell('not-well-formed')}`)
    const text = `${chunk}`
    stub.hears?.(text, socket)
    if (text.includes('<stream:stream')) {
      const refusal = stub.refuse?.()
      write(refusal === undefined ? greeting(isKnown, mayEncrypt) : `${header}${refusal}`)
    }
    if (text.includes('<starttls') && mayEncrypt) {
      mayEncrypt = false
      write('<proceed xmlns="urn:ietf:params:xml:ns:xmpp-tls"/>')
      socket.removeAllListeners('data')
      return serve(encrypted(socket, stub), jid, stub)
    }
    if (text.includes('<auth ')) {
      isKnown = true
      write(`<success ${sasl}/>`)
    }
    if (text.includes('<enable ')) write(`<enabled ${streamManagement} id="s" resume="true"/>`)
    if (text.includes('<resume ')) write(stub.resume?.() ?? `<failed ${streamManagement}/>`)
    for (const [question] of text.matchAll(/<iq [^>]*>.*?<\/iq>/g)) {
      const id = /id="([^"]+)"/.exec(question)?.[1] ?? ''
      const to = /to="([^"]+)"/.exec(question)?.[1]
      const bound = `<iq type="result" id="${id}"><bind ${bind}><jid>${jid}/stub</jid></bind></iq>`
      const empty = `<iq type="result" id="${id}"${to === undefined ? '' : ` from="${to}"`}/>`
      const isBind = question.includes(bind)
      write(isBind ? bound : (stub.answer({ id, text: question, to }) ?? empty))
    }
    if (text.includes('<presence')) stub.present?.(write, () => socket.destroy())
    if (text.includes('</stream:stream>')) socket.end('</stream:stream>')
  })
}

function greeting(isKnown: boolean, mayEncrypt: boolean): string {
  const login = mayEncrypt
    ? '<starttls xmlns="urn:ietf:params:xml:ns:xmpp-tls"><required/></starttls>'
    : `<mechanisms ${sasl}><mechanism>PLAIN</mechanism></mechanisms>`
  const features = isKnown ? `<bind ${bind}/><sm ${streamManagement}/>` : login
  return `${header}<stream:features>${features}</stream:features>`
}

const header = `<stream:stream xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams"
    from="stub.test" id="1" version="1.0">`

/** The server's last words: a stream error (RFC 6120, 4.9). */
export function farewell(condition: string, text?: string): string {
  const xmlns = 'xmlns="urn:ietf:params:xml:ns:xmpp-streams"'
  const said = text === undefined ? '' : `<text ${xmlns}>${text}</text>`
  return `<stream:error><${condition} ${xmlns}/>${said}</stream:error></stream:stream>`
}

async function stop(server: Server) {
  server.close()
  await once(server, 'close')
}
