/** Looks up the addresses of names that strangers choose, so that one with a silent server holds up no other. */
import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

/** Resolves with every address of the name, or rejects; never with none. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** Two tries of a second each, of which the second may take twice as long. */
const patience = { timeout: 1_000, tries: 2 }

/** Asks the name servers directly: a few slow zones would block the lookups of the system. `servers` replace its own. */
export function publicResolver(servers?: readonly string[]): Resolve {
  return async (hostname) => {
    const { addresses, failure } = await ask(hostname, servers)
    if (addresses.length === 0) throw unresolved(failure)
    return addresses
  }
}

export const resolvePublic: Resolve = publicResolver()

/** Asks the name servers themselves, within a few seconds. */
export function resolverOf(servers?: readonly string[]): Resolver {
  const resolver = new Resolver(patience)
  if (servers) resolver.setServers(servers)
  return resolver
}

async function ask(hostname: string, servers: readonly string[] | undefined) {
  const resolver = resolverOf(servers)
  const asked = [resolver.resolve4(hostname), resolver.resolve6(hostname)]
  const found = await Promise.allSettled(asked)
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  const addresses = found
    .flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    .map((address) => ({ address, family: isIP(address) }))
  const silence = failures.find(({ code }) => code === 'ETIMEOUT' || code === 'ESERVFAIL')
  return { addresses, silence, failure: silence ?? failures[0] }
}

/** Without a code, which would be taken for that of a connection. */
const unresolved = (cause: unknown) => new Error('the host name does not resolve', { cause })

/**
 * Knows the names of this machine and its network too: for where private addresses are allowed. The system looks up two
 * names at a time, for all parts of the service, and waits ten seconds and more for a server that is silent. So the servers
 * are asked first, and of the names for which they are silent the system looks up one at a time.
 */
export function systemResolver(
  system: Resolve = (hostname) => lookup(hostname, { all: true }),
  servers?: readonly string[],
): Resolve {
  let isOccupied = false
  return async (hostname) => {
    // No stranger has the server of a name without a dot.
    if (!hostname.includes('.')) return system(hostname)
    const { addresses, silence } = await ask(hostname, servers)
    if (!silence) return system(hostname)
    if (addresses.length > 0) return addresses
    if (isOccupied) throw unresolved(silence)
    isOccupied = true
    return system(hostname).finally(() => {
      isOccupied = false
    })
  }
}

export const resolveAnything: Resolve = systemResolver()
