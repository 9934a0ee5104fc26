/** Accounts of ended nodes are claimed, and their webhooks looked for, also when one of both fails at first. */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { followNodes } from '../../src/credentials/ownership.ts'
import type { PostgresCredentialStore } from '../../src/credentials/store.ts'
import { until } from '../support/client.ts'

const PAGE = 500

type Claimed = Awaited<ReturnType<PostgresCredentialStore['claimAll']>>[number]

/** Follows nodes over so many accounts without an owner; `changed` stands for a change of the nodes. */
function following(
  t: Test,
  accounts: number,
  failures: { page?: number; webhooks?: number },
  isPlacedHere = (_: number) => true,
) {
  const unowned: number[] = []
  let free = Array.from({ length: accounts }, (_, index) => index + 1)
  const woken: number[] = []
  let changed: () => void = () => undefined
  const stop = followNodes({
    store: {
      async unowned(after) {
        if (after > 0 && failures.page) {
          failures.page--
          throw new Error('the database is away')
        }
        return free.filter((id) => id > after).slice(0, PAGE)
      },
      async claimAll(ids) {
        free = free.filter((id) => !ids.includes(id))
        return ids.map((credentialId) => ({ credentialId, epoch: 1, next: 1 }) as Claimed)
      },
    },
    updates: { opened: () => undefined },
    supervisor: { adopt: () => undefined, factsOf: () => undefined },
    nodes: {
      isPlacedHere,
      refreshPins: async () => undefined,
      onMembersChanged(listener) {
        changed = listener
      },
      onDeclaredGone: () => undefined,
    },
    metrics: { unowned: (count) => void unowned.push(count) },
    ownership: { lost: () => undefined },
    owned: () => [],
    logger: pino({ level: 'silent' }),
    async claimed(ids) {
      if (failures.webhooks) {
        failures.webhooks--
        throw new Error('the database is away')
      }
      woken.push(...ids)
    },
  })
  t.teardown(stop)
  return { woken, unowned, look: () => changed() }
}

t.test(
  'a later page that cannot be claimed keeps no webhook of the first one asleep',
  async (t) => {
    const { woken, look } = following(t, PAGE + 1, { page: 1 })
    look()
    look()
    await until(() => woken.length === PAGE + 1)
    t.equal(new Set(woken).size, PAGE + 1, 'each once')
  },
)

t.test('webhooks that could not be looked for are looked for again', async (t) => {
  const { woken, look } = following(t, 3, { webhooks: 1 })
  look()
  look()
  await until(() => woken.length === 3)
  look()
  t.strictSame(woken, [1, 2, 3])
})

t.test('accounts that are left to other nodes are counted, until they have an owner', async (t) => {
  const { unowned, look } = following(t, PAGE + 3, {}, (id) => id > 2)
  look()
  await until(() => unowned.length === 1)
  t.same(unowned, [2])
})
