/** Deliveries to webhooks: against a bare POST loop to the same receiver, and beside endpoints that are dead. */
import { join } from 'node:path'
import { startChild } from './support/child.ts'
import type { Finding } from './support/finding.ts'
import { seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { besideTheDead, KEYS } from './webhooks-dead.ts'
import { flatOut, seedUpdates } from './webhooks-flat.ts'

export async function webhooks(stage: Stage): Promise<Finding[]> {
  const receiver = startChild(join(import.meta.dirname, 'support/receiver-process.ts'))
  const port = await receiver.ask<number>('start')
  const userId = await seedUser(stage)
  const [first = 0, ...others] = await seedChatter(stage, userId, KEYS + 1)
  const [key = '', ...keys] = await seedKeys(stage, userId, [first, ...others])
  await seedUpdates(stage, first)
  const service = await startService(stage, { START_BUDGET: '1000', WEBHOOK_TIMEOUT: '10' })
  await service.ask('online', KEYS + 1)
  const scene = { stage, service, receiver, origin: `http://127.0.0.1:${port}` }
  try {
    return [...(await flatOut(scene, key, first)), ...(await besideTheDead(scene, keys, others))]
  } finally {
    await service.stop()
    await receiver.stop()
  }
}
