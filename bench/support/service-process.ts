/** The whole service in a process of its own, driven by a benchmark. */
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { writeHeapSnapshot } from 'node:v8'
import { visibleState } from '../../actors/credential/timeline.ts'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { type Gateway, startGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { telegramPlatform } from '../../src/platforms/telegram/platform.ts'
import { trust } from '../../test/support/telegram-dc/crypto.ts'
import { Chatter, type Drizzle, type Speech } from './chatter.ts'
import { answerParent, descriptors, memory, processor, stalls, timers } from './child.ts'
import { evenly, type Pace } from './load.ts'
import { now } from './statistics.ts'
import { APPLICATION, type TelegramAddress } from './telegram.ts'

export interface StartOptions {
  readonly databaseUrl: string
  readonly env: Readonly<Record<string, string>>
  /** A Telegram on loopback in place of the real one. */
  readonly telegram?: TelegramAddress | undefined
}

export interface Writing extends Pace {
  /** Whose network it is. */
  readonly userId: number
  readonly people: readonly number[]
  /** People whose accounts are linked. */
  readonly accounts: readonly number[]
}

const chatter = new Chatter()
const closing: (() => Promise<unknown>)[] = []
let gateway: Gateway
/** What the entry of a collection tells besides; its type does not know. */
type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } }
let wholeCollections = 0
const collections = new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries() as GcEntry[]) {
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) wholeCollections++
  }
})

answerParent({
  async start({ databaseUrl, env, telegram }: StartOptions) {
    const config = readConfig(env)
    const logger = createLogger({ level: config.logLevel })
    const print = () => undefined
    const platforms = [chatter.platform]
    if (telegram) {
      await trust(telegram.pem)
      const db = openDatabase({ url: databaseUrl, logger })
      closing.push(() => db.close())
      const { entrance } = telegram
      const media = { open: () => Promise.reject(new Error('there are no files here')) }
      platforms.push(telegramPlatform({ application: APPLICATION, entrance, media, db, logger }))
    }
    gateway = await startGateway({ config, databaseUrl, logger, print, platforms })
    return gateway.address
  },
  /** Resolves once so many credentials are online. */
  async online(count: number) {
    // A look at ten thousand accounts takes two milliseconds of the thread that starts them.
    while (online() < count) await pause(Math.max(50, count / 50))
  },
  memory,
  rss: () => process.memoryUsage.rss(),
  /** The most that it ever took of the machine, in bytes. */
  peak: () => process.resourceUsage().maxRSS * 1024,
  processor,
  descriptors,
  timers,
  /** How many accounts are in each state of their machine. */
  states() {
    const counts: Record<string, number> = {}
    for (const { snapshot } of gateway.core.supervisor.live()) {
      const [state] = visibleState(snapshot)
      counts[state] = (counts[state] ?? 0) + 1
    }
    return counts
  },
  heapSnapshot: (file: string) => writeHeapSnapshot(file),
  stalls,
  /** How often all of the heap was collected since it began. */
  collections(step: 'begin' | 'end') {
    if (step === 'begin') collections.observe({ entryTypes: ['gc'] })
    else collections.disconnect()
    return wholeCollections
  },
  waitingPolls: () => gateway.core.heldPolls(),
  liveKeys: () => gateway.core.keys.size,
  async replay({ apiKeyId, after }: { apiKeyId: number; after: number }) {
    const key = await gateway.core.keys.find(apiKeyId)
    await key.changeWebhook({ kind: 'replay', after })
  },
  speak: (speech: Speech) => chatter.speak(speech),
  drizzle: (drizzle: Drizzle) => chatter.drizzle(drizzle),
  write,
  async stop() {
    await gateway.stop()
    for (const close of closing) await close()
  },
})

/** People of the sandbox write to accounts, in turn. */
async function write({ userId, people, accounts, ...pace }: Writing): Promise<void> {
  const actions = gateway.sandbox?.network(userId).actions
  if (!actions) throw new Error('there is no sandbox')
  await evenly(pace, (index) => {
    const person = people[index % people.length] ?? 0
    const to = accounts[index % accounts.length] ?? 0
    return actions.write(person, { to, text: `${now()} the quick brown fox` })
  })
}

function online(): number {
  let count = 0
  for (const actor of gateway.core.supervisor.live()) {
    if (actor.snapshot.matches({ live: 'online' })) count++
  }
  return count
}
