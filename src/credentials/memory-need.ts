/** Warns at the start if the accounts do not fit into the heap. */
import { getHeapStatistics } from 'node:v8'
import type { Queryable } from '../database/database.ts'
import type { Logger } from '../observability/log.ts'

const KILOBYTE = 2 ** 10
const MEGABYTE = 2 ** 20

/** Measured heap of an idle account, by platform. */
const ACCOUNT_BYTES: Readonly<Record<string, number>> = { telegram: 250 * KILOBYTE }
const OTHER_ACCOUNT_BYTES = 28 * KILOBYTE
/** The share of the heap for idle accounts: the rest is for their events and operations. */
const SHARE = 3 / 4

interface Heap {
  readonly most: number
  readonly used: number
}

/** One line, which says what to do; none where there is room. */
export async function warnOfMemory(
  db: Queryable,
  logger: Pick<Logger, 'warn'>,
  heap = heapNow(),
): Promise<void> {
  const platforms = await db.query<{ platform: string; accounts: number }>(
    `select platform, count(*) as accounts from credential
      where deactivated_at is null group by platform`,
  )
  let accounts = 0
  let needed = heap.used
  for (const { platform, accounts: some } of platforms) {
    accounts += some
    needed += some * (ACCOUNT_BYTES[platform] ?? OTHER_ACCOUNT_BYTES)
  }
  if (needed <= heap.most * SHARE) return
  const least = Math.ceil(needed / SHARE / MEGABYTE)
  const remedy = `give it more: NODE_OPTIONS=--max-old-space-size=${least}, and the container as much again`
  const heapMegabytes = Math.floor(heap.most / MEGABYTE)
  logger.warn({ accounts, heapMegabytes, remedy }, 'the heap is too small for so many accounts')
}

function heapNow(): Heap {
  const { heap_size_limit: most, used_heap_size: used } = getHeapStatistics()
  return { most, used }
}
