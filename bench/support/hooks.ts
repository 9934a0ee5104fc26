/** What benchmarks of webhooks have in common: the scene, and how keys get their webhooks. */
import type { Child } from './child.ts'
import { Connection, post } from './connection.ts'
import type { Service } from './service.ts'
import type { Stage } from './stage.ts'
import { percentile } from './statistics.ts'

const AT_ONCE = 8

export interface Scene {
  readonly stage: Stage
  readonly service: Service
  readonly receiver: Child
  /** Of the receiver. */
  readonly origin: string
}

export async function setWebhooks(
  { service }: Scene,
  keys: readonly string[],
  urlOf: (index: number) => string,
  max_connections: number,
): Promise<void> {
  const waiting = keys.entries()
  const several = Array.from({ length: Math.min(keys.length, AT_ONCE) }, async () => {
    const connection = await Connection.open(service.port)
    for (const [index, key] of waiting) {
      const body = { url: urlOf(index), max_connections }
      await connection.request(post(`/bot${key}/setWebhook`, body))
    }
    connection.close()
  })
  await Promise.all(several)
}

/** Milliseconds between the first and the last delivery of so many that `work` sets off. */
export async function deliveriesTake(
  { receiver }: Scene,
  deliveries: number,
  work: () => Promise<unknown>,
): Promise<number> {
  await receiver.ask('count', deliveries)
  const counted = receiver.ask<{ first: number; last: number }>('counted')
  await work()
  const { first, last } = await counted
  return last - first
}

export interface Turn {
  readonly took: number
  /** Milliseconds of processor time that the process spent meanwhile. */
  readonly processor: number
}

/** `work` resolves with the milliseconds that count. */
export async function timed(child: Child, work: () => Promise<number>): Promise<Turn> {
  const before = await child.ask<number>('processor')
  const took = await work()
  return { took, processor: (await child.ask<number>('processor')) - before }
}

/** Medians: on a machine that others use, single turns say little. */
export const rateOf = (turns: readonly Turn[], each: number) =>
  (1000 * each) /
  percentile(
    turns.map(({ took }) => took),
    0.5,
  )

export const processorOf = (turns: readonly Turn[], each: number) =>
  percentile(
    turns.map(({ processor }) => processor),
    0.5,
  ) / each
