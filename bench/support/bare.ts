/** Starts the bare counterpart in a process of its own. */
import { join } from 'node:path'
import { startChild } from './child.ts'
import type { Service } from './service.ts'
import type { Stage } from './stage.ts'

export async function startBare({ databaseUrl }: Stage): Promise<Service> {
  const child = startChild(join(import.meta.dirname, 'bare-process.ts'))
  const address = await child.ask<string>('start', { databaseUrl })
  return { ...child, port: Number(new URL(address).port), memory: () => child.ask('memory') }
}
