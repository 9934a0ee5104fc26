/** What becomes of accounts that are given away while the database is away for a moment. */
import t from 'tap'
import type { Owned } from '../../actors/ports/ports.ts'
import { type Handover, handOver } from '../../src/nodes/handover.ts'
import { until } from '../support/client.ts'
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

t.test('accounts that are released go on while the release of a locked one waits', async (t) => {
  const owned: Owned[] = [1, 2].map((credentialId) => ({ credentialId, epoch: 3 }))
  const happened: string[] = []
  const freed = Promise.withResolvers<void>()
  const parts: Handover = {
    owned: () => owned,
    park: ignore,
    unpark: (ids) => void (ids.length > 0 && happened.push(`unparked ${ids.join()}`)),
    endPolls: ignore,
    idle: async () => undefined,
    end: async () => undefined,
    async release(some, waits) {
      const ids = some.map(({ credentialId }) => credentialId)
      if (!waits) return ids.filter((id) => id !== 2)
      happened.push(`waits for ${ids.join()}`)
      await freed.promise
      return ids
    },
    announce: () => void happened.push('announced'),
    logger: new FakeLogger(),
    metrics: { handedOverWithin: ignore },
  }
  const handing = handOver(parts, owned, new AbortController().signal)
  await until(async () => happened.includes('waits for 2'))
  t.same(happened, ['announced', 'unparked 1', 'waits for 2'])
  freed.resolve()
  t.equal(await handing, 2)
  t.same(happened.slice(3), ['announced', 'unparked 2'])
})
