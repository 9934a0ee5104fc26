/** The SMTP sender, against a mail server. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { createSender, smtpSender } from '../../src/accounts/senders/create.ts'
import { PermanentFailure } from '../../src/jobs/jobs.ts'
import { mailServer } from '../support/mail-server.ts'

const message = { id: 'c1', phone: '+989121234567', code: '123456', text: 'Your code is 123456.' }

function senderTo(t: Test, url: string) {
  const options = { url, from: 'chapar@example.com', to: '{digits}@sms.example.com' }
  const sender = smtpSender(options)
  t.teardown(() => sender.close())
  return (limit = 5_000) => sender.send(message, AbortSignal.timeout(limit))
}

t.test('the code goes to the address that the phone maps to', async (t) => {
  const { mails, url } = await mailServer(t)
  await senderTo(t, url)()
  t.match(mails, [{ from: 'chapar@example.com', to: ['989121234567@sms.example.com'] }])
  t.match(mails[0]!.source, /^Subject: Your sign-in code\r$/m)
  t.match(mails[0]!.source, /^Message-ID: <c1@example\.com>\r$/m)
  t.match(mails[0]!.source, /\r\n\r\nYour code is 123456\.\r\n/)
})

t.test(
  'a final refusal is final, a temporary one is not, and neither repeats the address',
  async (t) => {
    const refuse = (responseCode: number) => ({
      onRcptTo: (address: { address: string }, _: unknown, done: (error?: Error) => void) =>
        done(Object.assign(new Error(`no ${address.address}`), { responseCode })),
    })
    for (const code of [450, 550]) {
      const { url } = await mailServer(t, refuse(code))
      const error = await senderTo(t, url)().catch((error) => error)
      t.equal(error instanceof PermanentFailure, code === 550)
      t.equal(error.message, `the mail server did not take the message: ${code}`)
    }
  },
)

t.test('a server that never answers is left in time', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  silent.on('connection', (socket) => t.teardown(() => socket.destroy()))
  t.teardown(() => silent.close())
  const { port } = silent.address() as { port: number }
  await t.rejects(senderTo(t, `smtp://127.0.0.1:${port}`)(200), { message: /TimeoutError/ })
})

t.test('the console shows codes, but not in production', async (t) => {
  const lines: string[] = []
  const surroundings = { production: false, print: (line: string) => void lines.push(line) }
  await createSender({ kind: 'console' }, surroundings).send(message, AbortSignal.timeout(1_000))
  t.same(lines, ['Sign-in code for +989121234567: 123456'])
  t.throws(() => createSender({ kind: 'console' }, { ...surroundings, production: true }), {
    message: /OTP_SENDER/,
  })
  const http = { kind: 'http', url: 'https://sms.example' } as const
  t.equal(createSender(http, { ...surroundings, production: true }).channel, 'sms')
})
