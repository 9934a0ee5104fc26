/** What others feel while one key costs the service as much as its limits let it: liveness, and their own calls. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Attack, attackNames } from './support/attacks.ts'
import { startChild } from './support/child.ts'
import { Connection, get } from './support/connection.ts'
import { below, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, now, percentile } from './support/statistics.ts'

const LIMIT_MS = 250
const EACH_MS = 15_000
const EVERY_MS = 10
/** What an operator has who sets nothing. */
const limits = {
  SEND_RATE: '30',
  SEND_BURST: '60',
  CHAT_RATE: '1',
  CHAT_BURST: '60',
  CALL_RATE: '200',
  CALL_BURST: '2000',
  MAX_CONNECTIONS_PER_ADDRESS: '5000',
}

export async function attacks(stage: Stage): Promise<Finding[]> {
  const [attacker, victim] = [await seedUser(stage), await seedUser(stage)]
  const theirs = await seedLinked(stage, attacker, 1)
  const others = await seedLinked(stage, victim, 1)
  const [chat = 0] = await seedPeople(stage, attacker, 1)
  const [ownKey = ''] = await seedKeys(stage, victim, others.credentialIds)
  const keys = await seedKeys(stage, attacker, theirs.credentialIds, attackNames.length)
  const service = await startService(stage, limits)
  const attack = startChild(join(import.meta.dirname, 'support/attack-process.ts'))
  const { port } = service
  const found: Finding[] = []
  try {
    await service.ask('online', 2)
    const probe = async (work: Promise<unknown>) => {
      const [live, calls] = await Promise.all(
        ['/health/live', `/bot${ownKey}/getMe`].map((path) => delays(port, path, work)),
      )
      return { live: percentile(live ?? [], 0.99), calls: percentile(calls ?? [], 0.99) }
    }
    await probe(pause(2_000))
    const rest = await probe(pause(5_000))
    // A key of its own each, with its bucket full.
    for (const [place, name] of attackNames.entries()) {
      const order: Attack = { name, port, key: keys[place] ?? '', chat, milliseconds: EACH_MS }
      const played = attack.ask<Record<string, number>>('play', order)
      const { live, calls } = await probe(played)
      found.push(finding(`p99 of /health/live during ${name}`, live, rest.live))
      found.push(finding("  of another user's getMe", calls, rest.calls))
      stage.note(`${name}: ${JSON.stringify(await played)}`)
    }
  } finally {
    await attack.stop()
    await service.stop()
  }
  return found
}

const finding = (what: string, ours: number, bare: number): Finding => ({
  what,
  ours: milliseconds(ours),
  bare: milliseconds(bare),
  ratio: ours / bare,
  ...below(ours, LIMIT_MS, `${LIMIT_MS} ms`),
})

/** Of one request after the other, until that work is over. A connection that was cut is opened anew, in the same time. */
async function delays(port: number, path: string, work: Promise<unknown>): Promise<number[]> {
  let connection = await Connection.open(port)
  const took: number[] = []
  const over = new AbortController()
  work.finally(() => over.abort()).catch(() => undefined)
  while (!over.signal.aborted) {
    const began = now()
    while (!(await isServed(connection, path)) && !over.signal.aborted) {
      connection.close()
      connection = await Connection.open(port)
    }
    took.push(now() - began)
    await pause(EVERY_MS)
  }
  connection.close()
  return took
}

const isServed = (connection: Connection, path: string) =>
  connection.request(get(path)).then(
    () => true,
    () => false,
  )
