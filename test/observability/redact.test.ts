/** Redaction: what must never be stored or printed, in the forms it takes in text. */

import t from 'tap'
import { redact } from '../../src/security/redact.ts'
import { busyMs } from '../support/busy.ts'
import fc from '../support/fast-check.ts'

const secret = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ'
const key = `123456789:${secret}`
const jwt = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl'
const phone = '+989121234567'
const code = '739154'

const texts = [
  `GET /bot${key}/getMe`,
  `GET /bot123456789%3A${secret}/getMe`,
  `fetch of https://example.org/file/bot${key}/photos/1.jpg failed`,
  `key ${key} is unknown`,
  `authorization: Bearer ${jwt}`,
  `a token ${jwt} in the middle`,
  `apikey chp_pat_${secret}`,
  `phone ${phone} has no account`,
  '/auth?phone=%2B989121234567',
  `/link?session=1&otp=${code}&x=1`,
  `the code is ${code}`,
  `otp: ${code}`,
  JSON.stringify({ phone: 989121234567, otp: code, nested: { password: code } }),
  JSON.stringify({ body: JSON.stringify({ phone, otp: code, token: secret }) }),
  JSON.stringify({ headers: { authorization: `Custom ${secret}`, 'set-cookie': secret } }),
]

t.test('secrets are taken out of every form', async (t) => {
  for (const text of texts) {
    const safe = redact(text)
    for (const canary of [secret, jwt, '98912123', code]) t.notMatch(safe, canary, text)
  }
})

t.test('a secret is taken out by the name of its field', async (t) => {
  const names = ['authorization', 'cookie', 'set-cookie', 'api_key', 'key', 'otp', 'one_time_code']
  names.push('password', 'phone', 'phone_number', 'pin', 'provider_token', 'refresh_token')
  names.push('access_token', 'secret', 'secret_token', 'token')
  for (const name of names) {
    t.same(JSON.parse(redact(`{"${name}":"a \\"word\\"","a":1}`)), { [name]: '[redacted]', a: 1 })
    t.same(JSON.parse(redact(`{"${name}":73,"a":1}`)), { [name]: '[redacted]', a: 1 })
    t.equal(redact(`/path?${name}=word&a=1`), `/path?${name}=[redacted]&a=1`)
  }
})

t.test('what is not secret stays', async (t) => {
  const texts = [
    'Bad Request: chat not found',
    'chat -1001234567890 has no message 739154',
    'POST /bot:api_key/:method',
    'at file:///srv/src/bot-api/methods.ts:12:34',
    '{"code":"23505","error_code":400,"at":"2026-11-21T10:00:00.000Z"}',
    'Too Many Requests: retry after 35',
  ]
  for (const text of texts) t.equal(redact(text), text)
})

t.test('a redacted line of JSON is still JSON with the same fields', async () => {
  const names = fc.constantFrom('otp', 'token', 'phone', 'msg', 'a')
  const pieces = fc.constantFrom(`/bot${key}`, '"', '\\', '"otp":"1', 'token=', phone, '\n', 'x')
  const text = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 6 }).map((all) => all.join(''))
  fc.assert(
    fc.property(fc.dictionary(names, fc.oneof(text, fc.integer())), (fields) => {
      const line = JSON.stringify(fields)
      const back: unknown = JSON.parse(redact(line))
      return String(Object.keys(back as object)) === String(Object.keys(fields))
    }),
    { numRuns: 5_000 },
  )
})

t.test('a hostile line costs linear time', async (t) => {
  const texts = ['\\"', '"otp":"', '/bot1', '+1', '"key":"\\', 'otp is ', 'eyJ', '1:', 'bearer ']
  for (const text of texts) {
    const took = await busyMs(() => redact(text.repeat(20_000)))
    t.ok(took < 500, `${JSON.stringify(text)}: ${took} ms`)
  }
})
