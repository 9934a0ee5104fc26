/** Keys and tokens: their forms, and what is refused before anybody looks it up. */
import t from 'tap'
import {
  formatApiKey,
  hashedSecret,
  hashSecret,
  isToken,
  newApiKeySecret,
  newToken,
  parseApiKey,
  sameHash,
  sameText,
} from '../../src/security/secrets.ts'

t.test('an API key is an id and 256 random bits, and reads back as written', async (t) => {
  const key = { id: 123456, secret: newApiKeySecret() }
  t.match(formatApiKey(key), /^123456:[\w-]{43}$/)
  t.same(parseApiKey(formatApiKey(key)), key)
  t.not(newApiKeySecret(), key.secret)
})

t.test('what has not the form of an API key is no key', async (t) => {
  const secret = newApiKeySecret()
  const misshapen = [
    '',
    secret,
    `:${secret}`,
    `12345:${secret}`,
    `0123456:${secret}`,
    `1234567890123456:${secret}`,
    `123456:${secret}x`,
    `123456:${secret.slice(1)}`,
    `123456:${secret.slice(1)}/`,
    ` 123456:${secret}`,
    `123456:${secret}\n`,
  ]
  for (const text of misshapen) t.equal(parseApiKey(text), undefined, JSON.stringify(text))
})

t.test('a token tells its kind, and one wrong character is noticed', async (t) => {
  const token = newToken('pat')
  t.match(token, /^chp_pat_[0-9A-Za-z]{49}$/)
  t.ok(isToken('pat', token))
  t.notOk(isToken('ref', token))
  for (let place = 'chp_pat_'.length; place < token.length; place++) {
    const other = token[place] === 'a' ? 'b' : 'a'
    t.notOk(isToken('pat', token.slice(0, place) + other + token.slice(place + 1)))
  }
})

t.test('hashes are equal only for equal secrets', async (t) => {
  t.ok(sameHash(hashSecret('a'), hashSecret('a')))
  t.notOk(sameHash(hashSecret('a'), hashSecret('b')))
  t.notOk(sameHash(hashSecret('a'), hashSecret('a').subarray(1)))
})

t.test('a hash as text is the same hash, and equal only for equal secrets', async (t) => {
  t.equal(hashedSecret('a'), hashSecret('a').toString('base64'))
  t.ok(sameText(hashedSecret('a'), hashedSecret('a')))
  t.notOk(sameText(hashedSecret('a'), hashedSecret('b')))
  t.notOk(sameText(hashedSecret('a'), hashedSecret('a').slice(1)))
  for (const other of ['', 'ab', 'b', 'aa']) t.notOk(sameText('a', other), JSON.stringify(other))
})
