/** Logging in without telling the password: by the standard's own examples, and over a server that takes nothing else. */
import { createHash, pbkdf2Sync } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { fieldsOf } from '../../src/platforms/kit/platform.ts'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import {
  AccountKey,
  parseStoredKey,
  type Salt,
  SaltedKeys,
  Scram,
  ServerUnproven,
  type StoredKey,
} from '../../src/platforms/xmpp/sasl/scram.ts'
import { quietLogger } from '../support/logger.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { patience, run, Store } from './contract/recorder.ts'
import { linked } from './contract/scene.ts'
import { Files } from './xmpp/files.ts'
import { MemoryRooms } from './xmpp/kept-rooms.ts'
import { Network } from './xmpp/network.ts'

/** RFC 5802 and RFC 7677: the same password by two digests. */
const examples = [
  {
    digest: 'sha1',
    nonce: 'fyko+d2lbbFgONRv9qkxdawL',
    challenge: 'r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096',
    answer: /^c=biws,r=fyko\S+,p=v0X8v3Bz2T0CJGbJQyF0X\+HI4Ts=$/,
    last: 'v=rmF9pqV8S7suAoZWja4dJRkFsKQ=',
  },
  {
    digest: 'sha256',
    nonce: 'rOprNGfwEbeRWgbNEkqO',
    challenge:
      'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
    answer: /^c=biws,r=rOpr\S+,p=dHzbZapWIk4jUhN\+Ute9ytag9zjfMHgsqmmiz7AndVQ=$/,
    last: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  },
] as const

t.test('both sides prove the password as the standard has it', async (t) => {
  for (const { digest, nonce, challenge, answer, last } of examples) {
    const scram = new Scram(digest, new SaltedKeys(), nonce)
    t.equal(scram.hello('user'), `n,,n=user,r=${nonce}`)
    t.match(await scram.prove(challenge, 'pencil'), answer)
    scram.verify(last)
    const unproven = ['', 'v=', last.replace(/\d/, 'x'), 'e=other-error', 'v=AAAA']
    for (const word of unproven) t.throws(() => scram.verify(word), ServerUnproven, word)
  }
  t.equal(new Scram('sha1', new SaltedKeys(), 'n').hello('a=b,c'), 'n,,n=a=3Db=2Cc,r=n')
  t.throws(() => new Scram('sha1', new SaltedKeys()).verify(examples[0].last), ServerUnproven)
})

t.test('a server may not ask for anything', async (t) => {
  const asked = (challenge: string) =>
    new Scram('sha1', new SaltedKeys(), 'mine').prove(challenge, 'x')
  for (const challenge of [
    'r=mineyours,s=QSXC,i=4095',
    'r=mineyours,s=QSXC,i=1000001',
    'r=mineyours,s=QSXC,i=4096.5',
    'r=mineyours,s=,i=4096',
    'r=mine,s=QSXC,i=4096',
    'r=yours,s=QSXC,i=4096',
    'm=more,r=mineyours,s=QSXC,i=4096',
    '',
  ]) {
    await t.rejects(asked(challenge), ServerUnproven, challenge)
  }
})

t.test('a password is the same however it is written, and made into a key once', async (t) => {
  const salt: Salt = { digest: 'sha1', salt: Buffer.from('salt'), iterations: 4_096 }
  const keys = new SaltedKeys()
  const key = (password: string) => pbkdf2Sync(password, 'salt', 4_096, 20, 'sha1')
  t.same(await keys.of('I\u00ADX', salt), key('IX'))
  t.same(await keys.of('\u2168\u00A0a\u200Cb', salt), key('IX ab'))
  let computed = 0
  const counting = new SaltedKeys(async () => Buffer.from(`${++computed}`))
  const others = [
    { iterations: 5_000 },
    { digest: 'sha256' },
    { salt: Buffer.from('other') },
  ] as const
  for (const more of [{}, ...others]) {
    const again = { ...salt, ...more }
    t.same(await counting.of('x', again), await counting.of('x', again))
  }
  await counting.of('y', salt)
  t.equal(computed, 5)
  let failing = true
  const failed = new SaltedKeys(() =>
    failing ? Promise.reject(new Error()) : counting.of('z', salt),
  )
  await t.rejects(failed.of('x', salt))
  failing = false
  t.ok(await failed.of('x', salt), 'a failure is not remembered')
})

t.test('a stored key replaces the password where it fits', async (t) => {
  const salt: Salt = { digest: 'sha1', salt: Buffer.from('salt'), iterations: 4_096 }
  const derived: string[] = []
  const keys = new SaltedKeys(async (password, { digest, salt, iterations }) => {
    derived.push(`${password} ${digest} ${salt} ${iterations}`)
    return Buffer.alloc(digest === 'sha1' ? 20 : 32, derived.length)
  })
  const told: StoredKey[] = []
  const first = new AccountKey(keys, undefined, (key) => told.push(key))
  const made = await first.of('pass', salt)
  t.strictSame(told, [], 'nothing is told before the server is proven')
  first.proven()
  first.proven()
  t.equal(told.length, 1)
  const [stored] = told
  t.strictSame(parseStoredKey(JSON.parse(JSON.stringify(stored))), stored)
  t.equal(derived.length, 1)

  const later = (kept = stored) =>
    new AccountKey(new SaltedKeys(deriving), kept, (key) => told.push(key))
  let anew = 0
  const deriving = async () => Buffer.alloc(20, 100 + ++anew)
  const again = later()
  t.strictSame(await again.of('pass', salt), made)
  again.proven()
  t.strictSame([anew, told.length], [0, 1], 'neither derived nor told again')

  const changes = [
    ['other', salt, 2],
    ['pass', { ...salt, iterations: 5_000 }, 3],
    ['pass', { ...salt, digest: 'sha256' }, 4],
    // The server makes a new salt for each login.
    ['pass', { ...salt, salt: Buffer.from('new') }, 4],
  ] as const
  for (const [at, [password, asked, known]] of changes.entries()) {
    const other = later()
    t.notSame(await other.of(password, asked), made)
    t.equal(anew, at + 1, 'derived anew')
    t.notOk(await other.isWrong(), 'a derived key is not to blame')
    await other.of(password, asked)
    other.proven()
    t.equal(told.length, known)
  }

  const denied = new AccountKey(keys, stored)
  await denied.of('pass', salt)
  t.notOk(await denied.isWrong(), 'the password is wrong, not the key')
  const wrong = new AccountKey(
    keys,
    stored && { ...stored, key: Buffer.alloc(20).toString('base64') },
  )
  t.same(await wrong.of('pass', salt), Buffer.alloc(20))
  t.ok(await wrong.isWrong())
  t.strictSame(await wrong.of('pass', salt), made)

  for (const broken of [
    undefined,
    null,
    [],
    { ...stored, digest: 'md5' },
    { ...stored, key: '' },
    { ...stored, iterations: '4096' },
    { ...stored, salt: 1 },
    { ...stored, passwordHash: null },
  ]) {
    t.equal(parseStoredKey(broken), undefined)
  }
})

t.test('over a server that takes nothing else', { skip: prosodyMissing ?? false }, async (t) => {
  const network = await Network.onProsody(t, { scramIterations: 600_000 })
  const account = await network.account('گذر‌واژه')
  const plain = new SaltedKeys()
  let computed = 0
  let turns = 0
  const keys = new SaltedKeys(async (password, salt) => {
    computed += 1
    let isDone = false
    const key = plain.of(password, salt).finally(() => {
      isDone = true
    })
    for (; !isDone; turns++) await turn()
    return key
  })
  const platform = network.platform({ keys })
  const link = { native: account.jid, method: 'password', fields: account.fields }
  const store = new Store(await linked(platform, link))
  t.equal(computed, 1)
  t.ok(turns > 20, `others had ${turns} turns while the key was made`)

  const friend = await network.friend()
  for (const text of ['first', 'second']) {
    const session = run(platform, store)
    await session.reported('opened')
    friend.send(account.jid, text)
    await store.message(text)
    await session.stop()
  }
  t.equal(computed, 1, 'the key is remembered for later logins')

  await t.test('another process takes the key from the secrets', async (t) => {
    const { salted: kept, ...plainSecrets } = fieldsOf(store.secrets)
    const salted = parseStoredKey(kept)!
    t.match(salted, { digest: 'sha256', iterations: 600_000 })
    let computed = 0
    const counting = () =>
      new SaltedKeys((password, salt) => {
        computed += 1
        return plain.of(password, salt)
      })
    const open = async () => {
      const session = run(network.platform({ keys: counting() }), store)
      await session.reported('opened')
      return session
    }
    const known = await open()
    t.strictSame([computed, store.secrets], [0, { ...plainSecrets, salted: { ...salted } }])
    await known.stop()
    t.notOk(known.reports.some(([name]) => name === 'secrets'))

    const others = [
      ['secrets of an earlier version', plainSecrets],
      [
        'a wrong key',
        { ...plainSecrets, salted: { ...salted, key: Buffer.alloc(32).toString('base64') } },
      ],
      ['a key of another password', { ...plainSecrets, salted: { ...salted, passwordHash: '' } }],
    ] as const
    for (const [at, [what, secrets]] of others.entries()) {
      store.secrets = secrets
      const session = await open()
      await session.reported('secrets')
      t.equal(computed, at + 1, `${what}: derived once`)
      t.strictSame(store.secrets, { ...plainSecrets, salted: { ...salted } }, `${what}: stored`)
      await session.stop()
    }
  })

  const wrong = { ...account.fields, password: 'wrong' }
  const { step } = await platform.startLink('password', wrong, patience())
  t.match(step, { kind: 'refused', reason: 'bad_credentials' })
})

t.test('a server that proves nothing is not believed', async (t) => {
  const sasl = 'xmlns="urn:ietf:params:xml:ns:xmpp-sasl"'
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const answer = (said: string): string => {
    const [, hello] = /<auth[^>]*>([^<]*)</.exec(said) ?? []
    if (hello) {
      const nonce = Buffer.from(hello, 'base64').toString().split(',r=')[1]
      return `<challenge ${sasl}>${base64(`r=${nonce}theirs,s=QSXC,i=4096`)}</challenge>`
    }
    if (said.includes('<response')) return `<success ${sasl}/>`
    return `<stream:stream xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams"
      from="xmpp.test" id="1" version="1.0"><stream:features>
      <mechanisms ${sasl}><mechanism>SCRAM-SHA-1</mechanism></mechanisms></stream:features>`
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => socket.write(answer(`${chunk}`)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const platform = xmppPlatform({
    logger: quietLogger,
    allowPrivate: true,
    media: new Files(),
    rooms: new MemoryRooms(),
  })
  const fields = { jid: 'ada@xmpp.test', password: 'x', server: `xmpp://127.0.0.1:${port}` }
  const { step } = await platform.startLink('password', fields, patience())
  t.match(step, { kind: 'refused', reason: 'server_unproven' })

  // A stored key changes nothing about that, whether it is right or not.
  const asked: Salt = { digest: 'sha1', salt: Buffer.from('QSXC', 'base64'), iterations: 4096 }
  const right = await new SaltedKeys().of('x', asked)
  for (const key of [right, Buffer.alloc(20)]) {
    const salted = {
      digest: 'sha1',
      salt: 'QSXC',
      iterations: 4096,
      passwordHash: createHash('sha256').update('x').digest('base64'),
      key: key.toString('base64'),
    }
    const identity = { native: fields.jid, firstName: 'ada' }
    const session = run(
      platform,
      new Store({ identity, secrets: { ...fields, resource: 'r', salted } }),
    )
    t.match(await session.reported('lost'), ['server_unproven'])
    t.notOk(session.reports.some(([name]) => name === 'secrets'))
    await session.stop()
  }
})

t.test('a password in any script is told to a server that asks for it', async (t) => {
  if (prosodyMissing) return t.comment(prosodyMissing)
  const network = await Network.onProsody(t, { plainOnly: true })
  const account = await network.account('گذرواژه')
  const link = { native: account.jid, method: 'password', fields: account.fields }
  t.match(await linked(network.platform(), link), { identity: { native: account.jid } })
})
