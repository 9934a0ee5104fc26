/** How many statements the requests take that wait for an owner. */
import t from 'tap'
import type { Queryable } from '../../src/database/database.ts'
import { Owners } from '../../src/nodes/owners.ts'

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
