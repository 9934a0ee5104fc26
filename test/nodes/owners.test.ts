/** How many statements the requests take that wait for an owner. */
import { createHash } from 'node:crypto'
import t from 'tap'
import type { Queryable } from '../../src/database/database.ts'
import {
  isNamedInBody,
  isPoll,
  Owners,
  plainUrl,
  targetIn,
  targetOf,
} from '../../src/nodes/owners.ts'

t.test('requests that look for owners at the same moment share a statement', async (t) => {
  const asked: unknown[] = []
  const query = async (_: unknown, [ids]: readonly unknown[] = []) => {
    asked.push(ids)
    const owned = (ids as number[]).filter((id) => id !== 13)
    return owned.map((id) => ({ id, credentialId: id + 1_000, owner: id % 3 }))
  }
  const owners = new Owners({ query: query as unknown as Queryable['query'] })
  const ids = Array.from({ length: 300 }, (_, id) => id)
  const found = await Promise.all(ids.map((id) => owners.look({ kind: 'key', id })))
  t.same(
    found.map((place) => place?.credentialId),
    ids.map((id) => (id === 13 ? undefined : id + 1_000)),
  )
  t.equal(asked.length, 2, 'those that came during the first one')
  t.match(await owners.find({ kind: 'key', id: 4 }), { credentialId: 1_004, owner: 1 })
  t.equal(owners.credentialOf({ kind: 'key', id: 4 }), 1_004)
  t.equal(asked.length, 2)
})

t.test('the account of a key that lives here is known without a look', async (t) => {
  const query = () => Promise.reject(new Error('the database does not answer'))
  const owners = new Owners({ query }, (apiKeyId) => (apiKeyId === 4 ? 1_004 : undefined))
  t.equal(owners.credentialOf({ kind: 'key', id: 4 }), 1_004)
  t.equal(owners.credentialOf({ kind: 'key', id: 5 }), undefined)
})

t.test('a connection that was cut off without a word holds no request for long', async (t) => {
  let asked = 0
  const query = async () => {
    // The first one never answers.
    if (++asked === 1) await new Promise(() => undefined)
    return [{ id: 7, credentialId: 7, owner: 3 }]
  }
  const owners = new Owners({ query: query as unknown as Queryable['query'] })
  const began = performance.now()
  t.match(await owners.look({ kind: 'credential', id: 7 }), { owner: 3 })
  t.match(await owners.look({ kind: 'link', id: 'a flow' }), { owner: 3 })
  t.ok(performance.now() - began < 2_000)
  t.equal(asked, 3, 'what is answered soon is asked once')
})

t.test('an address that the router takes for the same has the same owner', async (t) => {
  const key = { kind: 'key', id: 12 } as const
  for (const url of [
    '/api_keys/12',
    '/api_keys/%312',
    '/%61pi_keys/1%32?a=%31',
    '/api_keys/12#a',
  ]) {
    t.same(targetOf(plainUrl(url)), key, url)
  }
  t.same(targetOf(plainUrl('/%62ot12%3Aa/getMe')), key, 'with an escaped colon, too')
  t.same(targetOf(plainUrl('/platforms/cred%65ntials/%37')), { kind: 'credential', id: 7 })
  const flow = 'a_-'.padEnd(22, '0')
  t.same(targetOf(`/platforms/xmpp/link/${flow}/resend`), { kind: 'link', id: flow })
  const hash = createHash('sha256').update(flow).digest('hex')
  t.same(targetOf(`/link-pages/${flow}?a`), { kind: 'page', id: hash })
  t.equal(targetOf('/link-pages'), undefined)
  t.ok(isPoll(plainUrl('/bot12:a/%67etUpdates#a')))
  t.ok(isNamedInBody('POST', plainUrl('/api%5Fkeys?a')))
  t.ok(isNamedInBody('POST', plainUrl('/platforms/xmpp/link/start#a')))
  t.notOk(isNamedInBody('POST', plainUrl('/api_keys/12')))
})

t.test('of an address nothing changes that could mean something else', async (t) => {
  const same = ['/', '/a%2fb', '/a%2', '/%zz', '/a%2561', '/%C3%A9%20', '/a?b=%61#%62', '/a?#', '*']
  for (const url of same) t.equal(plainUrl(url), url)
  const letters = [
    '0',
    '5',
    '9',
    'A',
    'G',
    'O',
    'P',
    'Z',
    'a',
    'g',
    'o',
    'p',
    'z',
    '-',
    '.',
    '_',
    '~',
  ]
  for (const letter of letters) {
    const code = `%${letter.charCodeAt(0).toString(16)}`
    t.equal(plainUrl(`/${code}${code.toUpperCase()}`), `/${letter}${letter}`)
  }
  const others = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
  for (const other of others.filter((one) => !/[\w.~-]/.test(one))) {
    const url = `/%${other.charCodeAt(0).toString(16).padStart(2, '0')}`
    t.equal(plainUrl(url), url)
  }
  t.equal(plainUrl('/a#b?c#d'), '/a?b?c#d')
  const refused = [
    '/api_keys/%%335',
    '/api_keys/%3%35',
    '/%61%zz',
    '/%61%ff?a',
    '/%61%#a',
    '/%61%4',
  ]
  for (const url of refused) t.equal(plainUrl(url), url, 'the router refuses it at each node')
})

t.test('a body names a flow of linking, or else an account', async (t) => {
  const found = (body: unknown) => targetIn(Buffer.from(JSON.stringify(body)))
  t.same(found({ session_id: 'a', credential_id: 7 }), { kind: 'link', id: 'a' })
  t.same(found({ credential_id: 7 }), { kind: 'credential', id: 7 })
  for (const none of [
    {},
    { session_id: 7 },
    { credential_id: '7' },
    { credential_id: 7.5 },
    null,
  ]) {
    t.equal(found(none), undefined, JSON.stringify(none))
  }
  t.equal(targetIn(Buffer.from('{"credential_id":')), undefined)
})

t.test(
  'what is remembered of an account is not taken for that of a key with its number',
  async (t) => {
    let asked = 0
    const query = async ({ name }: { name: string }) => {
      asked++
      if (name === 'owner-link') return [{ owner: 3 }]
      return [
        {
          id: 7,
          ...(name === 'owner-key' ? { credentialId: 8, owner: 2 } : { credentialId: 7, owner: 1 }),
        },
      ]
    }
    const owners = new Owners({ query: query as unknown as Queryable['query'] })
    t.same((await owners.find({ kind: 'credential', id: 7 }))?.owner, 1)
    t.same((await owners.find({ kind: 'key', id: 7 }))?.owner, 2)
    await owners.find({ kind: 'link', id: 'a flow' })
    t.equal(asked, 3)
    await owners.find({ kind: 'link', id: 'a flow' })
    await owners.find({ kind: 'credential', id: 7 })
    t.equal(asked, 3, 'what is remembered is not asked again')
  },
)
