/** What bots would run: a bare server that takes deliveries, counts them by their paths, and can play dead. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerParent } from './child.ts'
import { now } from './statistics.ts'

let wanted = Number.POSITIVE_INFINITY
let live = 0
let first = 0
/** Milliseconds from a report, whose time begins the text, to its delivery. */
let delays: number[] = []
let done: PromiseWithResolvers<{ first: number; last: number }> | undefined

/** Paths under /dead are never answered, those under /spare not counted, and bodies under /timed are looked into. */
const server = createServer((request, response) => {
  if (request.url?.startsWith('/timed')) request.on('data', noteDelay)
  else request.resume()
  if (request.url?.startsWith('/dead')) return
  request.once('end', () => {
    response.end()
    if (request.url?.startsWith('/spare')) return
    if (live++ === 0) first = now()
    if (live === wanted) done?.resolve({ first, last: now() })
  })
})
server.keepAliveTimeout = 60_000

/** A body is so short that it comes in one piece. */
function noteDelay(body: Buffer): void {
  const [, told] = /"text":"([\d.]+)/.exec(body.toString()) ?? []
  if (told !== undefined) delays.push(now() - Number(told))
}

answerParent({
  async start() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
  /** Begins to count; what is asked for is waited for by `counted`. */
  count(updates: number) {
    live = 0
    delays = []
    wanted = updates
    done = Promise.withResolvers()
  },
  counted: () => done?.promise,
  delays: () => delays,
  stop() {
    server.closeAllConnections()
    server.close()
  },
})
