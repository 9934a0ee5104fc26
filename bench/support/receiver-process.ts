/** What bots would run: a bare server that takes deliveries, counts them by their paths, and can play dead. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerParent } from './child.ts'
import { now } from './statistics.ts'

let wanted = Number.POSITIVE_INFINITY
let live = 0
let first = 0
let done: PromiseWithResolvers<{ first: number; last: number }> | undefined

/** Paths under /dead are never answered, those under /spare not counted. */
const server = createServer((request, response) => {
  request.resume()
  if (request.url?.startsWith('/dead')) return
  request.once('end', () => {
    response.end()
    if (request.url?.startsWith('/spare')) return
    if (live++ === 0) first = now()
    if (live === wanted) done?.resolve({ first, last: now() })
  })
})
server.keepAliveTimeout = 60_000

answerParent({
  async start() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  /** Begins to count; what is asked for is waited for by `counted`. */
  count(updates: number) {
    live = 0
    wanted = updates
    done = Promise.withResolvers()
  },
  counted: () => done?.promise,
  stop() {
    server.closeAllConnections()
    server.close()
  },
})
