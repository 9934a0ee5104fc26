/** Logging in without telling the password: by the standard's own examples, and over a server that takes nothing else. */
import { pbkdf2Sync } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import {
  type Salt,
  SaltedKeys,
  Scram,
  ServerUnproven,
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
})

t.test('a password in any script is told to a server that asks for it', async (t) => {
  if (prosodyMissing) return t.comment(prosodyMissing)
  const network = await Network.onProsody(t, { plainOnly: true })
  const account = await network.account('گذرواژه')
  const link = { native: account.jid, method: 'password', fields: account.fields }
  t.match(await linked(network.platform(), link), { identity: { native: account.jid } })
})
