/** Mail whose sender has given up is not sent. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openMailer } from '../../src/net/mail.ts'
import { until } from '../support/client.ts'
import { mailServer } from '../support/mail-server.ts'

t.test('a sender who has given up sends nothing', async (t) => {
  const { url, mails } = await mailServer(t)
  const mailer = openMailer(url, 10_000)
  t.teardown(() => mailer.close())
  const mail = { id: 'm1', from: 'a@chapar.test', to: 'b@chapar.test', subject: 'one', text: 'one' }
  await t.rejects(mailer.send(mail, AbortSignal.abort()), { message: /AbortError/ })
  await mailer.send({ ...mail, subject: 'two' }, new AbortController().signal)
  await until(() => mails.length > 0)
  t.match(mails, [{ source: /Subject: two/ }])
  t.equal(mails.length, 1)
})

t.test(
  'a server that goes on slowly is left, and gets no mail once the time is over',
  async (t) => {
    const lines: string[] = []
    let isOpen = false
    const server = createServer((socket) => {
      isOpen = true
      const answers = ['250 hello', '250 from him', '250 to her', '354 go on']
      socket
        .setEncoding('latin1')
        .on('error', () => undefined)
        .on('close', () => {
          isOpen = false
        })
        .on('data', async (text: string) => {
          lines.push(text)
          for (let part = 0; part < 10 && isOpen; part++) {
            await pause(100)
            socket.write('250-slowly\r\n')
          }
          socket.write(`${answers.shift() ?? '250 taken'}\r\n`)
        })
      socket.write('220 welcome\r\n')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const mailer = openMailer(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, 1_500)
    t.teardown(() => mailer.close())
    const mail = {
      id: 'm1',
      from: 'a@chapar.test',
      to: 'b@chapar.test',
      subject: 'one',
      text: 'one',
    }
    await t.rejects(mailer.send(mail, new AbortController().signal), { message: /TimeoutError/ })
    await until(() => !isOpen, 3_000)
    t.ok(lines.length > 0)
    t.notOk(lines.some((line) => /^(RCPT|DATA)/.test(line)))
  },
)

t.test('a mail whose answer came too late has the same id when it comes again', async (t) => {
  const sources: string[] = []
  const { url } = await mailServer(t, {
    onData(stream, _, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('end', async () => {
        sources.push(Buffer.concat(chunks).toString())
        if (sources.length === 1) await pause(3_000)
        done()
      })
    },
  })
  const mailer = openMailer(url, 2_000)
  t.teardown(() => mailer.close())
  const from = 'Chapar <a@chapar.test>'
  const mail = { id: 'm2', from, to: 'b@chapar.test', subject: 'one', text: 'one' }
  const { signal } = new AbortController()
  await t.rejects(mailer.send(mail, signal), { message: /TimeoutError/ })
  await mailer.send(mail, signal)
  t.equal(sources.length, 2)
  for (const source of sources) t.match(source, /^Message-ID: <m2@chapar\.test>\r$/m)
})
