/** Thousands of linked accounts of one network, and the server at its other end. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Prosody, prosodyMissing } from '../../test/support/prosody.ts'
import type { Telegram, Xmpp } from './bare-crowd-process.ts'
import { type Child, startChild } from './child.ts'
import type { Finding } from './finding.ts'
import type { SeedAccount } from './seed.ts'
import type { Stage } from './stage.ts'
import { accountOf, type Device, type TelegramAddress } from './telegram.ts'
import { accountsOf } from './xmpp.ts'

const PASSWORD = 'of the benchmark'

export interface Crowd {
  readonly accounts: readonly SeedAccount[]
  /** Where its network is, for Telegram. */
  readonly telegram?: TelegramAddress
  /** Connections that the server has now, and all that it ever had, where it counts them. */
  connections(): Promise<{ readonly open: number; readonly ever?: number }>
  /** The server ends without a word, or begins again. */
  serve(isServing: boolean): Promise<void>
  /** The server falls silent and keeps its connections, or goes on. */
  freeze(isFrozen: boolean): void
  /** A process with the library alone, for the same accounts. */
  bare(): Promise<Child>
}

export const processOf = (name: string): Child =>
  startChild(join(import.meta.dirname, `${name}.ts`))

type Open = (count: number, opened: AsyncDisposableStack) => Promise<Crowd | string>

/** Each resolves with a sentence where its network cannot be had. */
const crowds: Readonly<Record<string, Open>> = {
  async Telegram(count, opened) {
    const network = processOf('telegram-network-process')
    opened.defer(() => network.stop())
    const telegram = await network.ask<TelegramAddress>('start')
    const devices = await network.ask<Device[]>('crowd', count)
    return {
      accounts: devices.map((device) => accountOf(device, telegram)),
      telegram,
      connections: () => network.ask('connections'),
      serve: (isServing) => network.ask('listen', isServing),
      freeze: (isFrozen) => network.signal(isFrozen ? 'SIGSTOP' : 'SIGCONT'),
      async bare() {
        const bare = processOf('bare-crowd-process')
        await bare.ask('telegram', { address: telegram, devices } satisfies Telegram)
        return bare
      },
    }
  },
  async XMPP(count, opened) {
    if (prosodyMissing) return prosodyMissing
    const prosody = await Prosody.start({ quickArchive: true })
    opened.defer(() => prosody.stop())
    const users = Array.from({ length: count }, (_, index) => `account-${index}`)
    await prosody.seed(users, PASSWORD)
    const { domain, server: service } = prosody
    return {
      accounts: accountsOf(prosody, users, PASSWORD),
      connections: async () => ({ open: await established(prosody.port) }),
      serve: (isServing) => (isServing ? prosody.up() : prosody.kill()),
      freeze: (isFrozen) => prosody.freeze(isFrozen),
      async bare() {
        const bare = processOf('bare-crowd-process')
        await bare.ask('xmpp', { service, domain, users, password: PASSWORD } satisfies Xmpp)
        return bare
      },
    }
  },
}

/** In the table of the system, after the number of a line: own address and port, the other's, and the state. */
const CONNECTION = /^\s*\d+: \w+:(\w+) \w+:\w+ (\w+)/
const ESTABLISHED = '01'

/** Connections to a port of this machine. */
async function established(port: number): Promise<number> {
  const table = await readFile('/proc/net/tcp', 'latin1')
  return table.split('\n').filter((line) => {
    const [, own = '', state] = CONNECTION.exec(line) ?? []
    return Number.parseInt(own, 16) === port && state === ESTABLISHED
  }).length
}

type Measure = (
  name: string,
  crowd: Crowd,
  opened: AsyncDisposableStack,
) => Promise<readonly Finding[]>

/** Of each network and size that is wanted. */
export async function ofEachCrowd(
  { options }: Pick<Stage, 'options'>,
  measure: Measure,
): Promise<Finding[]> {
  const found: Finding[] = []
  for (const [name, open] of Object.entries(crowds)) {
    if (options.network && options.network !== name) continue
    for (const count of options.sizes) {
      await using opened = new AsyncDisposableStack()
      const crowd = await open(count, opened)
      if (typeof crowd === 'string') found.push({ what: name, ours: `not run: ${crowd}` })
      else found.push(...(await measure(name, crowd, opened)))
    }
  }
  return found
}
