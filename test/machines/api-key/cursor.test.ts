/** What an offset confirms, and what it never does. */

import t from 'tap'
import { confirm } from '../../../machines/api-key/events.ts'
import fc from '../../support/fast-check.ts'

t.test('an offset confirms what is below it', async (t) => {
  t.equal(confirm(100, 105, 110), 104)
  t.equal(confirm(100, 110, 110), 109, 'all there is')
})

t.test('zero and negative offsets confirm nothing', async (t) => {
  for (const offset of [0, -1, -100, -(2 ** 31)]) t.equal(confirm(100, offset, 110), 100)
})

t.test('a tiny offset, as clients send at first, confirms nothing', async (t) => {
  t.equal(confirm(500_000_000, 1, 500_000_010), 500_000_000)
})

t.test('slightly ahead it confirms what exists, far ahead nothing', async (t) => {
  for (const ahead of [1, 9, 10]) t.equal(confirm(100, 110 + ahead, 110), 109)
  for (const ahead of [11, 1_000, 2 ** 31]) t.equal(confirm(100, 110 + ahead, 110), 100)
  t.equal(confirm(100, 2 ** 63, 110), 100)
})

t.test('no offset moves the cursor back, or past what exists', async () => {
  const ids = fc.integer({ min: -(2 ** 31), max: 2 ** 31 })
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(1_000), ids, (cursor, pending, offset) => {
      const next = cursor + 1 + pending
      const after = confirm(cursor, offset, next)
      if (after < cursor || after >= next) throw new Error(`${cursor} became ${after}`)
    }),
  )
})
