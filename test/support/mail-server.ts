/** A mail server that keeps what it takes. */
import { once } from 'node:events'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

interface Mail {
  readonly from: string
  readonly to: readonly string[]
  readonly source: string
}

export async function mailServer(t: Testing, options: SMTPServerOptions = {}) {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        const to = envelope.rcptTo.map(({ address }) => address)
        mails.push({ from, to, source: Buffer.concat(chunks).toString() })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => new Promise<void>((resolve) => void server.close(resolve)))
  const { port } = listener.address() as { port: number }
  return { mails, url: `smtp://127.0.0.1:${port}` }
}
