/** Mail whose sender has given up is not sent. */
import t from 'tap'
import { openMailer } from '../../src/net/mail.ts'
import { until } from '../support/client.ts'
import { mailServer } from '../support/mail-server.ts'

t.test('a sender who has given up sends nothing', async (t) => {
  const { url, mails } = await mailServer(t)
  const mailer = openMailer(url, 10_000)
  t.teardown(() => mailer.close())
  const mail = { from: 'a@chapar.test', to: 'b@chapar.test', subject: 'one', text: 'one' }
  await t.rejects(mailer.send(mail, AbortSignal.abort()), { message: /AbortError/ })
  await mailer.send({ ...mail, subject: 'two' }, new AbortController().signal)
  await until(() => mails.length > 0)
  t.match(mails, [{ source: /Subject: two/ }])
  t.equal(mails.length, 1)
})
