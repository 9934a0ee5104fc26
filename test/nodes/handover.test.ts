/** What becomes of accounts that are given away while the database is away for a moment. */
import t from 'tap'
import type { Owned } from '../../actors/ports/ports.ts'
import { type Handover, handOver } from '../../src/nodes/handover.ts'
import { FakeLogger } from '../support/fakes.ts'

const ignore = () => undefined

t.test('accounts whose last writes fail are released all the same', async (t) => {
  const owned: Owned[] = [1, 2].map((credentialId) => ({ credentialId, epoch: 3 }))
  const logger = new FakeLogger()
  const released: number[] = []
  const parts: Handover = {
    owned: () => owned,
    park: ignore,
    unpark: ignore,
    endPolls: ignore,
    idle: async () => undefined,
    end: async () => {
      throw new Error('the database is away')
    },
    async release(some) {
      const ids = some.map(({ credentialId }) => credentialId)
      released.push(...ids)
      return ids
    },
    announce: ignore,
    logger,
    metrics: { handedOverWithin: ignore },
  }
  t.equal(await handOver(parts, owned, new AbortController().signal), 2)
  t.same(released, [1, 2], 'nobody would run what a node that lives keeps without running it')
  t.same(logger.warnings, ['credentials are given away with writes left'])
})
