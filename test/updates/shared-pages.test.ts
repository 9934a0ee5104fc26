/** A page is made once for all keys that ask for the same, and never answers after the log has changed. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { ReadUpdates } from '../../actors/ports/ports.ts'
import { DEFAULT_KINDS, type Filter } from '../../machines/model/update-kinds.ts'
import type { Database } from '../../src/database/database.ts'
import { type Reader, readPage, readRows, SharedPages } from '../../src/updates/read.ts'
import type { Row } from '../../src/updates/row.ts'
import { Tail } from '../../src/updates/tail.ts'
import { only } from '../support/fakes.ts'
import fc from '../support/fast-check.ts'
import { FIRST, many, stage } from './stage.ts'

const filters: readonly Filter[] = [
  [],
  [{ from: 0, kinds: 2 }],
  [{ from: FIRST + 5, kinds: 2 }],
  [
    { from: 0, kinds: DEFAULT_KINDS },
    { from: FIRST + 8, kinds: 1 },
  ],
]

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('push' as const),
      of: fc.constantFrom(0, 1, 3),
      by: fc.constantFrom(null, null, null, 1, 2),
    }),
  },
  {
    weight: 24,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      key: fc.constantFrom(1, 2, 3),
      back: fc.nat(4),
      limit: fc.constantFrom(2, 100),
      filter: fc.constantFrom(...filters),
    }),
  },
  fc.record({ kind: fc.constant('removed' as const), by: fc.nat(6) }),
  fc.record({ kind: fc.constant('reach' as const), by: fc.nat(6) }),
  fc.record({ kind: fc.constant('clear' as const) }),
)

const row = (updateId: number, kind: number, apiKeyId: number | null): Row => ({
  updateId,
  kind,
  apiKeyId,
  chatId: 1,
  traceId: null,
  payload: `"message":{"n":${updateId},"kind":${kind}}`,
})

t.test('whatever happens to the log, each key reads what it would read alone', (t) => {
  const db = only<Database>(t, 'Database', {})
  let shared = 0
  const property = fc.property(fc.array(step, { minLength: 40, maxLength: 120 }), (steps) => {
    const tail = new Tail(FIRST)
    const pages = new SharedPages<ReadUpdates>()
    const rows = new SharedPages<Awaited<ReturnType<typeof readRows>>>()
    const seen = new Set<unknown>()
    for (const one of steps) {
      if (one.kind === 'push') tail.push(row(tail.next, one.of, one.by))
      else if (one.kind === 'removed') tail.removed(tail.next - 1 - one.by)
      else if (one.kind === 'reach') tail.reach(tail.next + one.by)
      else if (one.kind === 'clear') tail.clear()
      else {
        const after = tail.next - 1 - one.back
        if (!tail.reaches(after)) continue
        const { key: apiKeyId, limit, filter } = one
        const reader: Reader = { credentialId: 1, apiKeyId, limit, filter, after }
        const page = readPage(db, tail, reader, pages)
        const others = readRows(db, tail, reader, rows)
        if (!isDeepStrictEqual(page, readPage(db, tail, reader))) return false
        if (!isDeepStrictEqual(others, readRows(db, tail, reader))) return false
        if (seen.has(page)) shared++
        seen.add(page)
      }
    }
    return true
  })
  fc.assert(property, { numRuns: 300 })
  t.ok(shared > 100, `${shared} pages were shared`)
  t.end()
})

t.test('a hundred keys get one page, made once', async (t) => {
  const { credential, key, node } = await stage(t)
  const id = await credential()
  const keys = await Promise.all(Array.from({ length: 100 }, () => key(id)))
  const { updates, append } = await node([id])
  const stop = updates.listen(id, FIRST + 100, () => undefined)
  const poll = (after: number) => ({
    requestId: 'r',
    askedAt: 0,
    after,
    keepNewest: undefined,
    limit: 100,
    timeoutMs: 0,
    // Each key has a filter of its own, as it was read from the table.
    filter: [{ from: 0, kinds: DEFAULT_KINDS }],
  })
  const pages = () => new Set(keys.map((apiKeyId) => updates.read(id, apiKeyId, poll(FIRST - 1))))
  const rows = async () =>
    new Set(
      await Promise.all(
        keys.map((apiKeyId) =>
          updates.rows({ credentialId: id, apiKeyId, ...poll(FIRST - 1), limit: 200 }),
        ),
      ),
    )
  await append(id, many(3, 'a'))
  t.equal(pages().size, 1)
  t.equal((await rows()).size, 1)
  const [before] = pages()
  t.match(before, { count: 3 }, 'without a promise, from memory')
  await append(id, many(1, 'b'))
  const [after] = pages()
  t.match(after, { count: 4 }, 'a newer update is never left out')
  t.ok(updates.load.heldBytes > 0)
  await append(id, many(1, 'own'), { apiKeyId: keys[0] ?? 0 })
  t.equal(pages().size, 100, 'what one key has caused is not read by it, so each page is its own')
  stop()
})
