/** Access tokens: every forgery is refused, and the keys that sign them change without anybody noticing. */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import t from 'tap'
import { SigningKeys } from '../../src/accounts/signing-keys.ts'
import type { Database } from '../../src/database/database.ts'
import { accountsRig, failureOf, issuer } from '../support/accounts.ts'
import { busyMs } from '../support/busy.ts'
import { testDatabase } from '../support/database.ts'
import { testVault } from '../support/vault.ts'

const DAY = 86_400
const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const parse = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
const partsOf = (token: string) => token.split('.') as [string, string, string]

const signed = (key: KeyObject, header: object, payload: object) => {
  const input = `${json(header)}.${json(payload)}`
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
}

t.test('a token says what it must, and nothing of the account', async (t) => {
  const { signIn, time } = await accountsRig(t)
  const { accessToken, user, expiresIn } = await signIn()
  const [head, body] = partsOf(accessToken)
  const now = time.now.getTime() / 1_000
  t.match(parse(head), { alg: 'EdDSA', typ: 'at+jwt', kid: /^[\w-]{43}$/ })
  const { jti, sid, ...claims } = parse(body)
  t.same(claims, {
    ...{ iss: issuer, aud: issuer, sub: `${user.id}` },
    ...{ iat: now, nbf: now, exp: now + 600 },
  })
  t.match(jti, /^[\w-]{36}$/)
  t.match(sid, /^\d+$/)
  t.equal(expiresIn, 600)
  t.ok(accessToken.length < 1_000)
})

t.test('every forgery is refused, quickly', async (t) => {
  const { accounts, signIn } = await accountsRig(t)
  const { accessToken } = await signIn()
  const { keys } = await accounts.signingKeys.jwks()
  const [head, body, signature] = partsOf(accessToken)
  const header = parse(head)
  const payload = parse(body)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const jwk = publicKey.export({ format: 'jwk' })
  const pem = createPublicKey({ key: keys[0]!, format: 'jwk' }).export({
    format: 'pem',
    type: 'spki',
  })
  const hmac = (alg: string, key: string | Buffer) => {
    const input = `${json({ ...header, alg })}.${body}`
    return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
  }
  const own = (change: object, claims: object = payload) =>
    signed(privateKey, { ...header, ...change }, claims)

  const forgeries: Readonly<Record<string, string>> = {
    nothing: '',
    'no parts': 'x',
    'empty parts': '..',
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'four parts': `${accessToken}.x`,
    'alg none': `${json({ ...header, alg: 'none' })}.${body}.`,
    'alg None': `${json({ ...header, alg: 'None' })}.${body}.`,
    'alg none with a signature': `${json({ ...header, alg: 'none' })}.${body}.${signature}`,
    'no alg': `${json({ typ: 'at+jwt', kid: header.kid })}.${body}.${signature}`,
    'HMAC with the public key as PEM': hmac('HS256', pem),
    'HMAC with the public key as JWK': hmac('HS256', JSON.stringify(keys[0])),
    'HMAC with the raw public key': hmac('HS256', Buffer.from(keys[0]!.x, 'base64url')),
    'HMAC with nothing': hmac('HS256', ''),
    'ES256 in the header': `${json({ ...header, alg: 'ES256' })}.${body}.${signature}`,
    'a key of one’s own under our kid': own({}),
    'a key of one’s own in the header': own({ jwk }),
    'a key at an address': own({ jku: 'https://evil.example/jwks.json' }),
    'a certificate': own({ x5c: ['MIIB'], x5u: 'https://evil.example/cert' }),
    'an unknown kid': own({ kid: 'unknown' }),
    'no kid': own({ kid: undefined }),
    'an empty kid': own({ kid: '' }),
    'a kid that is a path': own({ kid: '../../dev/null' }),
    'a kid that is SQL': own({ kid: "' or '1'='1" }),
    'a kid that is an object': own({ kid: { toString: 'x' } }),
    'a kid of the prototype': own({ kid: '__proto__' }),
    'an unknown critical extension': own({ crit: ['exp'] }),
    'b64 false': own({ b64: false, crit: ['b64'] }),
    'another user': `${head}.${json({ ...payload, sub: '999' })}.${signature}`,
    'a later end': `${head}.${json({ ...payload, exp: payload.exp + 1e6 })}.${signature}`,
    'another signature': `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    'a cut signature': accessToken.slice(0, -4),
    'a cut header': accessToken.slice(1),
    'no JSON': `${Buffer.from('{').toString('base64url')}.${body}.${signature}`,
    'an array for a payload': `${head}.${json([])}.${signature}`,
    'a null payload': `${head}.${json(null)}.${signature}`,
    padding: `${accessToken}==`,
    'a megabyte': `${head}.${'A'.repeat(1_000_000)}.${signature}`,
    'a space': ` ${accessToken}`,
    'two tokens': `${accessToken},${accessToken}`,
  }
  for (const [name, token] of Object.entries(forgeries)) {
    const took = await busyMs(async () => {
      const failure = await failureOf(accounts.verifyAccessToken(token))
      t.equal(failure?.code, 'unauthorized', name)
    })
    t.ok(took < 250, `${name}: in time`)
  }
  t.ok(await accounts.verifyAccessToken(accessToken))
})

t.test('no changed character passes', async (t) => {
  const { accounts, signIn } = await accountsRig(t)
  const { accessToken } = await signIn()
  // The last character of a part carries bits that decode to nothing; another spelling is not another token.
  const ends = new Set([...accessToken.matchAll(/\.|$/g)].map(({ index }) => index - 1))
  for (let place = 0; place < accessToken.length; place++) {
    if (ends.has(place)) continue
    const other = accessToken[place] === 'A' ? 'B' : 'A'
    const changed = accessToken.slice(0, place) + other + accessToken.slice(place + 1)
    const failure = await failureOf(accounts.verifyAccessToken(changed))
    if (failure?.code !== 'unauthorized') t.fail(`character ${place}`)
  }
  t.pass('all were refused')
})

t.test('a well signed token with wrong claims is refused', async (t) => {
  const { accounts, signIn, time, vault, database } = await accountsRig(t)
  const { accessToken } = await signIn()
  const [head, body] = partsOf(accessToken)
  const header = parse(head)
  const payload = parse(body)
  const [row] = await database.query<{ private_sealed: Buffer }>('select * from signing_key')
  const place = { table: 'signing_key', column: 'private_sealed', row: header.kid }
  const jwk = JSON.parse((await vault.open(place, row!.private_sealed)).toString())
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  const verify = (change: object, head: object = {}) =>
    failureOf(
      accounts.verifyAccessToken(signed(key, { ...header, ...head }, { ...payload, ...change })),
    )

  t.equal(await verify({}), undefined, 'the rig itself signs well')
  const now = time.now.getTime() / 1_000
  for (const name of ['iss', 'aud', 'sub', 'sid', 'jti', 'iat', 'nbf', 'exp']) {
    t.match(await verify({ [name]: undefined }), { code: 'unauthorized' }, `no ${name}`)
  }
  const wrongClaims = [
    { iss: 'https://evil.example' },
    { aud: 'https://evil.example' },
    { exp: now - 31 },
    { exp: 'tomorrow' },
    { nbf: now + 31 },
    { sid: '999999' },
    { sid: 'x' },
    { sub: '999999' },
    { sub: 'x' },
  ]
  for (const change of wrongClaims) {
    t.match(await verify(change), { code: 'unauthorized' }, JSON.stringify(change))
  }
  for (const typ of ['JWT', 'jwt', '', undefined]) {
    t.match(await verify({}, { typ }), { code: 'unauthorized' }, `typ ${typ}`)
  }
  t.equal(await verify({ exp: now - 29 }), undefined, 'clocks may differ a little')
})

t.test('a token lives ten minutes and the leeway', async (t) => {
  const { accounts, signIn, advance } = await accountsRig(t)
  const { accessToken } = await signIn()
  advance(629)
  t.ok(await accounts.verifyAccessToken(accessToken))
  advance(1)
  t.match(await failureOf(accounts.verifyAccessToken(accessToken)), {
    description: 'the access token has expired',
  })
})

t.test(
  'a new key is published a day before it signs; the old one stays while needed',
  async (t) => {
    const { accounts, signIn, advance } = await accountsRig(t)
    const kids = async () => (await accounts.signingKeys.jwks()).keys.map(({ kid }) => kid)
    const kidOf = (token: string) => parse(partsOf(token)[0]).kid
    const [first] = await kids()
    advance(89 * DAY - 1)
    await accounts.signingKeys.rotate()
    t.same(await kids(), [first])
    advance(1)
    await accounts.signingKeys.rotate()
    await accounts.signingKeys.rotate()
    t.equal((await kids()).length, 2)
    advance(DAY - 5)
    const last = await signIn()
    t.equal(kidOf(last.accessToken), first)
    advance(5)
    const fresh = await signIn()
    t.not(kidOf(fresh.accessToken), first)
    t.ok(await accounts.verifyAccessToken(last.accessToken))
    t.ok(await accounts.verifyAccessToken(fresh.accessToken))
    advance(631)
    await accounts.signingKeys.rotate()
    t.same(await kids(), [kidOf(fresh.accessToken)])
  },
)

t.test('nodes that start together agree on one key', async (t) => {
  const { restart, database } = await accountsRig(t)
  await database.query('delete from signing_key')
  const nodes = Array.from({ length: 5 }, restart)
  await Promise.all(nodes.map((node) => node.start()))
  t.equal((await database.query('select from signing_key')).length, 1)
})

t.test('a node whose clock is behind takes the key of the other', async (t) => {
  const { database } = await testDatabase(t)
  const vault = await testVault(t, database)
  const made = await new SigningKeys(database, vault, () => new Date(20_000)).current()
  const behind = new SigningKeys(database, vault, () => new Date(10_000))
  t.equal((await behind.current()).kid, made.kid)
  t.equal((await database.query('select from signing_key')).length, 1)
})

t.test('two nodes that both found no key make one', async (t) => {
  const { database } = await testDatabase(t)
  const vault = await testVault(t, database)
  let looking = 2
  const bothLooked = Promise.withResolvers<void>()
  // Neither goes on before both have seen that there is none.
  const slow: Database = {
    ...database,
    async query<Row extends object>(...asked: Parameters<Database['query']>) {
      const rows = await database.query<Row>(...asked)
      if (--looking === 0) bothLooked.resolve()
      await bothLooked.promise
      return rows
    },
  }
  const nodes = [1, 2].map(() => new SigningKeys(slow, vault, () => new Date()))
  const [one, other] = await Promise.all(nodes.map((node) => node.current()))
  t.equal(one?.kid, other?.kid)
  t.equal((await database.query('select from signing_key')).length, 1)
})

t.test(
  'a token has one spelling: the bits that its last character has over are none',
  async (t) => {
    const { accounts, signIn } = await accountsRig(t)
    const { accessToken } = await signIn()
    const bytes = (text: string) => Buffer.from(text.split('.')[2]!, 'base64url').toString('hex')
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const spellings = [...letters]
      .map((letter) => accessToken.slice(0, -1) + letter)
      .filter((token) => bytes(token) === bytes(accessToken))
    t.equal(spellings.length, 16)
    for (const token of spellings) {
      const failure = await failureOf(accounts.verifyAccessToken(token))
      t.equal(failure === undefined, token === accessToken)
    }
  },
)
