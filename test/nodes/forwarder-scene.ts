/** A forwarder of node 1 without a service: the test gives the nodes, the table of owners, and the routes. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import type { Test } from 'tap'
import { RequestForwarder } from '../../src/http/nodes/forwarding.ts'
import type { OwnerRecord, Owners } from '../../src/nodes/owners.ts'

export const SELF = 1
export const CREDENTIAL = 7
export const KEY = Buffer.alloc(32, 7)

export type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface ForwarderScene {
  readonly rows: readonly {
    readonly incarnation: number
    readonly address: string | null
    /** The one of this version if it is absent. */
    readonly protocol?: number
  }[]
  /** What the node remembers of the account's owner. */
  find(): Promise<OwnerRecord | undefined>
  /** What the table says of it. */
  look(): Promise<OwnerRecord | undefined>
  readonly serve?: Serve
  readonly holdMs?: number
  owns?(): boolean
  adopt?(sessionId: string, from: number | null): Promise<void>
  isPlacedHere?(): boolean
  onMembersChanged?(changed: () => void): void
}

const ignore = () => undefined

export async function startForwarder(t: Test, scene: ForwarderScene) {
  const { rows, find, look, serve = (_, response) => void response.end('served here') } = scene
  const owners = { credentialOf: () => CREDENTIAL, find, look, forget: ignore }
  const forwarder = new RequestForwarder({
    nodes: {
      view: () => ({ rows, incarnation: SELF }) as never,
      onMembersChanged: scene.onMembersChanged ?? ignore,
      isPlacedHere: scene.isPlacedHere ?? (() => false),
    },
    owners: owners as unknown as Owners,
    owns: scene.owns ?? (() => false),
    adopt: scene.adopt ?? (async () => undefined),
    key: KEY,
    holdMs: scene.holdMs ?? 20_000,
    logger: pino({ level: 'silent' }),
    metrics: { forwarded: ignore, forwardedWithin: ignore, parked: ignore },
  })
  const server = createServer().listen(0, '127.0.0.1')
  forwarder.serveOn(server, serve)
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await forwarder.close()
  })
  return { forwarder, server, port: (server.address() as AddressInfo).port }
}
