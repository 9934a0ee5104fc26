/** An XMPP server that lets anybody in and then says whatever a test wants: what a real one never would. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

const sasl = 'xmlns="urn:ietf:params:xml:ns:xmpp-sasl"'
const bind = 'xmlns="urn:ietf:params:xml:ns:xmpp-bind"'
const streamManagement = 'xmlns="urn:xmpp:sm:3"'

export interface Question {
  readonly id: string
  readonly text: string
  readonly to: string | undefined
}

export interface Stub {
  /** What is answered to a question; the empty answer when absent. */
  answer(question: Question): string | undefined
  /** The client is there: it has sent its presence. */
  present?(write: (text: string) => void): void
}

export async function startXmppStub(jid: string, stub: Stub) {
  const server = createServer((socket) => serve(socket, jid, stub)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { server: `xmpp://127.0.0.1:${port}`, stop: () => stop(server) }
}

function serve(socket: Socket, jid: string, stub: Stub) {
  let isKnown = false
  const write = (text: string) => socket.writable && socket.write(text)
  // Clients may hang up at any time.
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    const text = `${chunk}`
    if (text.includes('<stream:stream')) write(greeting(isKnown))
    if (text.includes('<auth ')) {
      isKnown = true
      write(`<success ${sasl}/>`)
    }
    if (text.includes('<enable ')) write(`<enabled ${streamManagement} id="s" resume="true"/>`)
    if (text.includes('<resume ')) write(`<failed ${streamManagement}/>`)
    for (const [question] of text.matchAll(/<iq [^>]*>.*?<\/iq>/g)) {
      const id = /id="([^"]+)"/.exec(question)?.[1] ?? ''
      const to = /to="([^"]+)"/.exec(question)?.[1]
      const bound = `<iq type="result" id="${id}"><bind ${bind}><jid>${jid}/stub</jid></bind></iq>`
      const empty = `<iq type="result" id="${id}"${to === undefined ? '' : ` from="${to}"`}/>`
      const isBind = question.includes(bind)
      write(isBind ? bound : (stub.answer({ id, text: question, to }) ?? empty))
    }
    if (text.includes('<presence')) stub.present?.(write)
  })
}

function greeting(isKnown: boolean): string {
  const features = isKnown
    ? `<bind ${bind}/><sm ${streamManagement}/>`
    : `<mechanisms ${sasl}><mechanism>PLAIN</mechanism></mechanisms>`
  return `<stream:stream xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams"
    from="stub.test" id="1" version="1.0"><stream:features>${features}</stream:features>`
}

async function stop(server: Server) {
  server.close()
  await once(server, 'close')
}
