/** Sends so many malformed requests, and stops at the first answer that must not be. */
import fc from '../support/fast-check.ts'
import type { Operation } from './operations.ts'
import { type Request, requestFor } from './requests.ts'
import { defectOf, secretIn } from './verdict.ts'
import { type Reply, Wire } from './wire.ts'
import type { FuzzWorld } from './world.ts'

export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Which operations are asked for; all unless given. */
  readonly among?: (operation: Operation) => boolean
}

export interface FuzzReport {
  readonly answered: number
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>
  /** The operations that were not served now, each with what the answer says, and how often. */
  readonly unserved: Readonly<Record<string, number>>
  readonly slowestMs: number
  /** Each with the request that shows it. */
  readonly defects: readonly string[]
}

const CONNECTIONS = 16
const ROUND = 400
const WITHIN_MS = 15_000
const ENOUGH = 20
const LEGIBLE = 1_500

export async function fuzz(
  world: FuzzWorld,
  { cases, seed, among = () => true }: FuzzOptions,
): Promise<FuzzReport> {
  const statuses: Record<string, number> = {}
  const unserved: Record<string, number> = {}
  const defects = new Map<string, string>()
  let [answered, slowestMs] = [0, 0]
  const requests = () =>
    fc.oneof(
      ...world.operations.filter(among).map((operation) => ({
        weight: operation.weight,
        arbitrary: requestFor(operation, world.known),
      })),
    )
  let anyRequest = requests()

  /** The first of its kind for each operation. */
  function note(defect: string, request: Request, details = ''): void {
    const { method, path } = request.operation
    const kind = `${method} ${path}: ${defect}`
    if (!defects.has(kind)) defects.set(kind, `${kind}${details}\n${shown(request.bytes)}`)
  }

  async function send(wire: Wire, request: Request): Promise<void> {
    const startedAt = performance.now()
    try {
      const reply = await wire.send(request.bytes, request.isHead, WITHIN_MS)
      increase(statuses, reply.status)
      if (reply.status >= 500) increase(unserved, refusalOf(request, reply))
      const defect = defectOf(request, reply, world.known)
      if (defect) note(defect, request, `: ${reply.body.slice(0, 600)}`)
      if (request.isFramed && !(await wire.servesNext(WITHIN_MS))) {
        note('the next request on its connection is not served', request)
      }
    } catch (cause) {
      note(String(cause), request)
    }
    answered++
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
  }

  const wires = Array.from({ length: CONNECTIONS }, () => new Wire(world.port))
  for (let round = 0; answered < cases && defects.size < ENOUGH; round++) {
    if (await world.renewed()) anyRequest = requests()
    const numRuns = Math.min(ROUND, cases - answered)
    const waiting = fc.sample(anyRequest, { seed: seed + round, numRuns })
    await Promise.all(
      wires.map(async (wire) => {
        for (let next = waiting.pop(); next; next = waiting.pop()) await send(wire, next)
      }),
    )
    for (const line of world.log.splice(0)) {
      const secret = secretIn(line, world.known)
      if (secret) defects.set(`the log ${secret}`, `the log shows ${secret}: ${line}`)
    }
  }
  for (const wire of wires) wire.close()
  if (!(await world.works())) defects.set('end', 'the service does not work any more')
  return { answered, statuses, unserved, slowestMs, defects: [...defects.values()] }
}

function increase(counts: Record<string, number>, name: string | number): void {
  counts[name] = (counts[name] ?? 0) + 1
}

function refusalOf({ operation, isHead }: Request, { status, body }: Reply): string {
  const said = isHead ? 'no body' : body.slice(0, LEGIBLE)
  return `${operation.method} ${operation.path}: ${status} ${said}`
}

function shown(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  const start = text.length > LEGIBLE ? `${text.slice(0, LEGIBLE)}… (${bytes.length} bytes)` : text
  return JSON.stringify(start)
}
