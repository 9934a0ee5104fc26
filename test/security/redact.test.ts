/** Redaction: no secret survives it, whatever stands around. */
import t from 'tap'
import { maskPhone, redact, redactKeys } from '../../src/security/redact.ts'
import { formatApiKey, newApiKeySecret, newToken } from '../../src/security/secrets.ts'
import { busyMs } from '../support/busy.ts'

const secret = newApiKeySecret()

t.test('keys, tokens and phone numbers are taken out of any text', async (t) => {
  const key = formatApiKey({ id: 123456, secret })
  const token = newToken('pat')
  const jwt = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'
  const texts: readonly (readonly [text: string, secret: string])[] = [
    [`GET /bot${key}/getMe`, secret],
    [`GET /bot${key.replace(':', '%3A')}/getMe?x=1`, secret],
    [`GET /file/bot${key}/photos/1.jpg`, secret],
    ['GET /bot123456:mistyped/getMe', 'mistyped'],
    ['GET /botmistyped/getMe', 'mistyped'],
    [`{"token":"${key}"}`, secret],
    [`authorization: Bearer ${jwt}`, 'c2lnbmF0dXJl'],
    [`authorization: apikey ${token}`, token.slice(8)],
    ['sent to +989121234567', '98912123'],
    ['?phone=%2B989121234567', '98912123'],
  ]
  for (const [text, gone] of texts) t.notOk(redactKeys(text).includes(gone), redactKeys(text))
})

t.test('what tells requests apart stays', async (t) => {
  t.equal(redactKeys(`/bot123456:${secret}/getMe?limit=5`), '/bot123456:[key]/getMe?limit=5')
  t.equal(redactKeys('call +989121234567 now'), 'call +[phone]4567 now')
  t.equal(redactKeys('at 2026-01-01T00:00:00.000+03:30'), 'at 2026-01-01T00:00:00.000+03:30')
})

t.test('a phone number is shown by its last four digits', async (t) => {
  t.equal(maskPhone('+989121234567'), '+********4567')
})

t.test('a long hostile text is read in no more than a moment', async (t) => {
  // Each would take seconds if every piece of it were read to its end.
  const pieces = ['eyJ-', 'eyJa.', '\\', '\\"', '"key":"\\', '/bot1', 'key=', '+1', '1:', 'code: ']
  for (const piece of pieces) {
    const text = piece.repeat(300_000 / piece.length)
    const took = await busyMs(() => redact(text))
    t.ok(took < 2_000, `${piece}: ${took} ms`)
  }
})

t.test('quoted JSON keeps no secret, however often it is quoted', async (t) => {
  let text = JSON.stringify({ a: '\\', password: 'p4ss', key: 'k3y' })
  for (let depth = 0; depth < 4; depth++) {
    t.notMatch(redact(text), /p4ss|k3y/, text)
    text = JSON.stringify({ text })
  }
})
