/** Host names to addresses, in bounded time and without occupying a thread. */
import { lookup, Resolver } from 'node:dns/promises'

export interface Address {
  readonly address: string
  readonly family: number
}

/** Resolves with every address of the name, or rejects; never with none. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>

/** Two tries of a second each, of which the second may take twice as long. */
const patience = { timeout: 1_000, tries: 2 }

/**
 * Asks the name servers and nobody else. The system's own lookup waits in one of the few threads that files need as
 * well, so a handful of slow zones would bring those to a halt. `servers` are asked instead of the system's.
 */
export function publicResolver(servers?: readonly string[]): Resolve {
  return async (hostname) => {
    const resolver = new Resolver(patience)
    if (servers) resolver.setServers(servers)
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    const addresses = [...answers(four, 4), ...answers(six, 6)]
    if (addresses.length === 0) throw new Error('the host name does not resolve', { cause: four })
    return addresses
  }
}

export const resolvePublic: Resolve = publicResolver()

/** Knows the names of this machine and its network too: for where private addresses are allowed. */
export const resolveAnything: Resolve = (hostname) => lookup(hostname, { all: true })

const answers = (result: PromiseSettledResult<string[]>, family: number): Address[] =>
  result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
