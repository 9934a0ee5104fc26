/** Counts the files of the service that run for one request, by V8's precise coverage of the running service. */
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { linkedAccount } from '../service/scene.ts'
import { startService } from '../support/service.ts'
import { root } from './source.ts'

export interface Flow {
  readonly name: string
  readonly files: readonly string[]
}

const ROUNDS = 8
const RECEIVE = 'incoming message to held getUpdates'
/** The request by which a test writes the message; its files are no part of the way of an incoming message. */
const WRITE = 'writing between two people'
const POLL = 'getUpdates without updates'
const isProduction = /^(machines|actors|src)\//
/** The beats of the node go on whatever is asked, and on a busy machine one falls into every round. */
const isOfTheBeat = /^((machines|actors)\/node|src\/nodes)\//

/** Each flow is repeated: work in the background that happens to run meanwhile drops out. */
export async function measureFlows(t: Parameters<typeof startService>[0]): Promise<Flow[]> {
  const service = await startService(t)
  const { client, ada, key } = await linkedAccount(service, 'housebot')
  let offset = 0
  const poll = async () => {
    const { body } = await client.bot(key, 'getUpdates', { offset, timeout: 5 })
    offset = body.result.at(-1).update_id + 1
  }
  const bea = await client.person('Bea', 'house_bea')
  const receive = async () => {
    const held = poll()
    await pause(100)
    await client.write(ada.id, '@housebot', 'hello')
    await held
  }
  const flows = {
    getMe: () => client.bot(key, 'getMe'),
    sendMessage: () => client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'hello' }),
    [RECEIVE]: receive,
    [POLL]: () => client.bot(key, 'getUpdates', { offset, timeout: 0 }),
    [WRITE]: () => client.write(ada.id, `@${bea.username}`, 'hello'),
  }
  const coverage = await Coverage.start()
  const measured: Flow[] = []
  for (const [name, flow] of Object.entries(flows)) {
    for (let warm = 0; warm < 3; warm++) await flow()
    const rounds: Set<string>[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await pause(300)
      await coverage.take()
      await flow()
      rounds.push(await coverage.take())
    }
    const [first = new Set<string>(), ...more] = rounds
    const inAll = [...first].filter((file) => more.every((round) => round.has(file)))
    measured.push({ name, files: inAll.sort() })
  }
  coverage.stop()
  return withoutWriting(measured)
}

/** Leaves out of an incoming message what only runs to write it; a poll alone shows what both ways share. */
function withoutWriting(measured: readonly Flow[]): Flow[] {
  const filesOf = (flow: string) => measured.find(({ name }) => name === flow)?.files ?? []
  const received = filesOf(RECEIVE).filter((file) => !filesOf(WRITE).includes(file))
  const incoming = [...new Set([...received, ...filesOf(POLL)])].sort()
  return measured.flatMap((flow) => {
    if (flow.name === WRITE || flow.name === POLL) return []
    return flow.name === RECEIVE ? { ...flow, files: incoming } : flow
  })
}

/** Files that may run for each flow; 30 and 60 are asked for the first two. */
export const LIMITS: Readonly<Record<string, number>> = {
  getMe: 30,
  sendMessage: 60,
  [RECEIVE]: 70,
}

class Coverage {
  readonly #session: Session

  private constructor(session: Session) {
    this.#session = session
  }

  static async start(): Promise<Coverage> {
    const session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return new Coverage(session)
  }

  /** The files of the service in which a function was called since the last time. */
  async take(): Promise<Set<string>> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    const files = new Set<string>()
    for (const { url, functions } of result) {
      if (!url.startsWith('file:')) continue
      const path = relative(root, fileURLToPath(url))
      const wasCalled = functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      if (wasCalled && isProduction.test(path) && !isOfTheBeat.test(path)) files.add(path)
    }
    return files
  }

  stop(): void {
    this.#session.disconnect()
  }
}
