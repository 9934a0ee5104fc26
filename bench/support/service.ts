/** Starts the service in a process of its own, on the database of a stage. */
import { join } from 'node:path'
import { type Child, type Memory, startChild } from './child.ts'
import type { StartOptions } from './service-process.ts'
import type { Stage } from './stage.ts'

export const METRICS_TOKEN = 'a-token-for-the-benchmarks'

/** Nothing here makes the service faster; the limits are those that a load from one place would run into. */
const env = {
  HOST: '127.0.0.1',
  PORT: '0',
  LOG_LEVEL: 'error',
  METRICS_TOKEN,
  SEND_RATE: '1000000',
  CALL_RATE: '1000000',
  CALL_BURST: '1000000',
  API_KEYS_PER_ACCOUNT: '1000000',
  MAX_CONNECTIONS_PER_ADDRESS: '1000000',
  SEND_BURST: '1000000',
  CHAT_RATE: '1000000',
  CHAT_BURST: '1000000',
}

export interface Service extends Child {
  readonly port: number
  memory(): Promise<Memory>
}

export async function startService(
  stage: Stage,
  more: Readonly<Record<string, string>> = {},
  execArgv: readonly string[] = [],
  telegram?: StartOptions['telegram'],
): Promise<Service> {
  const file = join(import.meta.dirname, 'service-process.ts')
  const child = startChild(file, execArgv)
  const { databaseUrl, dataDir } = stage
  const address = await child.ask<string>('start', {
    databaseUrl,
    env: { ...env, DATA_DIR: dataDir, ...more },
    telegram,
  } satisfies StartOptions)
  return { ...child, port: Number(new URL(address).port), memory: () => child.ask('memory') }
}
