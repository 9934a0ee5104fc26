/** Forwards each request to the node that owns the account it concerns, and decides what a caller sees while that node ends or changes. */
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { NodeRow } from '../../../actors/node/observer.ts'
import { OwnershipLost, RequestFailed } from '../../../machines/model/failure.ts'
import type { Nodes } from '../../nodes/nodes.ts'
import {
  isNamedInBody,
  isPoll,
  type OwnerRecord,
  type Owners,
  onOwnerLost,
  plainUrl,
  type RequestTarget,
  targetIn,
  targetOf,
} from '../../nodes/owners.ts'
import { type Forwarding, forwardingOf, misdirect, noteTaken, Peer } from '../../nodes/peers.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { refusalOfHead } from '../malformed-requests.ts'
import { BodyCopy, isShort } from './body-copy.ts'
import { answer, ForwardedCall, isStream, unavailable } from './call.ts'

/** The node that took a request knows where it came from. */
export function believe(
  request: FastifyRequest,
  { client }: Forwarding,
  isProxy: (address: string) => boolean,
): void {
  const { 'x-forwarded-proto': protocol, 'x-forwarded-for': farther } = request.headers
  Object.defineProperties(request, {
    ip: { value: clientOf(client, farther, isProxy) },
    protocol: { value: String((isProxy(client) && protocol) || 'http') },
  })
}

/** The nearest address that is no proxy, or else the farthest one. */
function clientOf(
  nearest: string,
  forwardedFor: string | string[] | undefined,
  isProxy: (address: string) => boolean,
): string {
  const farther = String(forwardedFor ?? '').split(',')
  const addresses = [nearest, ...farther.map((part) => part.trim()).reverse()].filter(Boolean)
  return addresses.find((address) => !isProxy(address)) ?? addresses.at(-1) ?? ''
}

/** Between two looks for the owner of an account that moves. */
const LOOK_MS = 100

const isOfAccount = ({ kind }: RequestTarget) => kind === 'key' || kind === 'credential'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface ForwardingOptions {
  readonly nodes: Pick<Nodes, 'view' | 'onMembersChanged' | 'isPlacedHere'>
  readonly owners: Owners
  /** Whether this node runs the account, and may act for it. */
  owns(credentialId: number): boolean
  /** Takes a flow of linking from a node that has ended, unless another node is faster. */
  adopt(sessionId: string, from: number | null): Promise<void>
  /** The key that only the nodes share. */
  readonly key: Buffer
  /** How long a request waits for an owner. */
  readonly holdMs: number
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'forwarded' | 'forwardedWithin' | 'parked'>
}

export class RequestForwarder {
  readonly #options: ForwardingOptions
  #peers: ReadonlyMap<number, Peer> = new Map()
  #rows: readonly NodeRow[] = []
  #self: number | undefined
  /** There is no other node, and none could forward a request to this one. */
  #isAlone = true
  #server: Server | undefined
  #parked = 0
  /** Accounts that are being given away. */
  readonly #moving = new Set<number>()
  /** The number of calls that are answered here now, without streams; counted only beside other nodes. */
  readonly #underWay = new Map<number, number>()
  readonly #settled = new EventEmitter<Record<`${number}`, []>>().setMaxListeners(0)
  #serve: Serve = (_, response) => answer(response, unavailable.failure)

  constructor(options: ForwardingOptions) {
    this.#options = options
    options.nodes.onMembersChanged(() => this.#membersChanged())
    options.metrics.parked(() => this.#parked)
    this.#membersChanged()
  }

  /** Takes the requests of `server`; those that are answered here go to `serve`. */
  serveOn(server: Server, serve: Serve): void {
    this.#server = server
    this.#serve = serve
    this.#listen()
  }

  /** A node that no others can join skips all of this for its requests. */
  #listen(): void {
    this.#server?.off('request', this.take).off('request', this.#serve)
    this.#server?.prependListener('request', this.#isAlone ? this.#serve : this.take)
  }

  /** From a client. */
  readonly take: Serve = (request, response) => {
    const { method = '' } = request
    const url = plainUrl(request.url ?? '')
    request.url = url
    const target = targetOf(url)
    if (target && this.#isHere(target)) return this.#serveCounted(target, request, response)
    // The routes refuse it. Between nodes it would have one host, that of the owner.
    if (refusalOfHead(request)) return this.#serve(request, response)
    if (target) {
      void this.#forward(new ForwardedCall(request, response), target)
    } else if (isNamedInBody(method, url) && isShort(request)) {
      void this.#forwardByBody(new ForwardedCall(request, response))
    } else this.#serve(request, response)
  }

  /** A request from another node, which has found that this node is the owner. */
  readonly receive: Serve = (request, response) => {
    const target = targetOf(request.url ?? '')
    if (!target) return this.#serve(request, response)
    if (this.#isHere(target)) return this.#serveCounted(target, request, response)
    // The table is read while this node gives the account away: the node that asks looks again.
    const wasMoving = this.#isMoving(target)
    this.#options.owners.look(target).then(
      (place) => {
        const isElsewhere = place?.owner !== this.#self || wasMoving || this.#isMoving(target)
        if (place && isElsewhere) misdirect(response)
        else this.#serveCounted(target, request, response)
      },
      // The node that asks gives up once it has looked for as long as it may.
      () => (isOfAccount(target) ? misdirect(response) : this.#serve(request, response)),
    )
  }

  /** How many requests wait here for an account to have an owner. */
  get parked(): number {
    return this.#parked
  }

  close(): void {
    for (const peer of this.#peers.values()) peer.destroy()
    this.#peers = new Map()
  }

  /** From now on calls for these wait until they have another owner. */
  park(credentialIds: readonly number[]): void {
    for (const id of credentialIds) this.#moving.add(id)
  }

  unpark(credentialIds: readonly number[]): void {
    for (const id of credentialIds) {
      this.#moving.delete(id)
      this.#options.owners.forget(id)
    }
  }

  /** Resolves once no call for these is under way here. */
  async idle(credentialIds: readonly number[]): Promise<void> {
    const busy = credentialIds.filter((id) => this.#underWay.has(id))
    await Promise.all(busy.map((id) => once(this.#settled, `${id}`)))
  }

  #isHere(target: RequestTarget): boolean {
    const { owners, owns } = this.#options
    const credentialId = owners.credentialOf(target)
    return credentialId !== undefined && owns(credentialId) && !this.#moving.has(credentialId)
  }

  #isMoving(target: RequestTarget): boolean {
    const credentialId = this.#options.owners.credentialOf(target)
    return credentialId !== undefined && this.#moving.has(credentialId)
  }

  /** `copy`: of a request that was not served at once, because some of its body may have come meanwhile. */
  #serveCounted(
    target: RequestTarget,
    request: IncomingMessage,
    response: ServerResponse,
    copy = forwardingOf(request) ? undefined : BodyCopy.of(request, response),
  ): void {
    const leave = this.#count(target, request, response)
    // A node that forwarded the request looks for the owner itself.
    if (!forwardingOf(request)) {
      noteTaken(request)
      onOwnerLost(request, () => {
        // A very long body is not kept, but it may be that nobody has read any of it.
        if (response.headersSent || (!copy?.isKept && request.readableDidRead)) return false
        leave()
        const read = isShort(request) || request.readableDidRead ? copy : undefined
        void this.#forwardServed(target, request, response, read)
        return true
      })
    }
    this.#serve(request, response)
  }

  /** This node has lost the account before anything was done for the request: the next owner answers it. */
  async #forwardServed(
    target: RequestTarget,
    request: IncomingMessage,
    response: ServerResponse,
    copy: BodyCopy | undefined,
  ): Promise<void> {
    const body = await copy?.whole()
    if (copy?.isKept === false) answer(response, unavailable.failure)
    // The client has left.
    else if (copy && !body) response.destroy()
    else await this.#forward(new ForwardedCall(request, response, { body }), target)
  }

  /** Until it is answered; the caller may say earlier that it is under way no more. */
  #count(target: RequestTarget, request: IncomingMessage, response: ServerResponse): () => void {
    const credentialId = this.#options.owners.credentialOf(target)
    // The caller may have left while the owner was looked up: the response then has no 'close' to come.
    const hasLeft = response.destroyed
    if (credentialId === undefined || hasLeft || isStream(request)) return () => undefined
    const underWay = this.#underWay
    underWay.set(credentialId, (underWay.get(credentialId) ?? 0) + 1)
    const leave = () => {
      response.off('close', leave)
      const left = (underWay.get(credentialId) ?? 1) - 1
      if (left > 0) underWay.set(credentialId, left)
      else {
        underWay.delete(credentialId)
        this.#settled.emit(`${credentialId}`)
      }
    }
    response.once('close', leave)
    return leave
  }

  async #forwardByBody(call: ForwardedCall): Promise<void> {
    const body = await call.keepBody().catch(() => undefined)
    if (!body) return call.leave()
    await this.#forward(call, targetIn(body) ?? { kind: 'link', id: '' })
  }

  async #forward(call: ForwardedCall, target: RequestTarget): Promise<void> {
    const { owners, holdMs, logger } = this.#options
    let until = performance.now() + holdMs
    let isParked = false
    let hasLost = false
    let isFresh = false
    let isCurrent = false
    try {
      let place = await owners.find(target)
      for (;;) {
        const to = this.#nodeOf(place, isCurrent)
        const hasMoved = to === this.#self && (await this.#adopts(place))
        if (to === this.#self && !hasMoved && !call.isOnlyForwarded) {
          return this.#serveCounted(target, call.request, call.response, call.copy)
        }
        // Nobody can forward it to that node, but the client's next try may come to it.
        if (isFresh && to === this.#self && this.#isAtOther(place)) {
          return call.refuse(new OwnershipLost())
        }
        if (to !== undefined && call.isSentWhole) await call.keepBody()
        const end = to === undefined || hasMoved ? 'elsewhere' : await this.#goesTo(to, call)
        if (end === 'ended' || call.hasLeft) return
        // The former owner has ended: from now on the request waits for the next one.
        if (end === 'lost' && !hasLost) until = performance.now() + holdMs
        hasLost ||= end === 'lost'
        if (isFresh) {
          if (performance.now() > until) return call.giveUp()
          if (!isParked) this.#parked++
          isParked = true
          await pause(LOOK_MS)
        }
        // The remembered owner may be out of date: look into the table before the request waits or is refused.
        const wasMoving = this.#isMoving(target)
        place = await owners.look(target)
        isFresh = true
        // The table was read while this node gave the account away: it may say what was true before.
        isCurrent = !wasMoving
      }
    } catch (err) {
      logger.debug({ err }, 'a request could not be forwarded')
      // Bots ask again at once after an answer to a poll.
      if (isPoll(call.request.url ?? '')) await pause(Math.max(0, until - performance.now()))
      // Another node may own the account by now: what this one remembers of it, and of its keys, may be old.
      const isInDoubt = isOfAccount(target) && !this.#isHere(target)
      const why = err instanceof RequestFailed ? err : undefined
      if (isInDoubt || call.isOnlyForwarded || call.hasLeft) call.giveUp(why)
      else this.#serveCounted(target, call.request, call.response, call.copy)
    } finally {
      if (isParked) this.#parked--
    }
  }

  /** The node to ask: the owner if it lives; this node if there is no owner or the request is refused anyway. */
  #nodeOf(place: OwnerRecord | undefined, isCurrent: boolean): number | undefined {
    if (!place) return this.#self
    const { owner, credentialId } = place
    if (credentialId !== undefined) {
      if (this.#moving.has(credentialId)) return undefined
      const isLost = owner === this.#self && !this.#options.owns(credentialId)
      if (isLost && !isCurrent) return undefined
    }
    if (owner !== null && (owner === this.#self || this.#peers.has(owner))) return owner
    // The owner has no address for other nodes: the answer says that the account is there.
    if (this.#isUp(owner) || credentialId === undefined) return this.#self
    // Where no call can be forwarded, the node that gets one takes the account.
    const isTaken = this.#peers.size === 0 || this.#options.nodes.isPlacedHere(credentialId)
    return isTaken ? this.#self : undefined
  }

  /** Whether the flow of linking had lost its node. It has one now, which the table names. */
  async #adopts(place: OwnerRecord | undefined): Promise<boolean> {
    const { sessionId, owner = null } = place ?? {}
    const isLeft = owner !== this.#self && !this.#isUp(owner)
    if (!sessionId || !isLeft || this.#self === undefined) return false
    await this.#options.adopt(sessionId, owner)
    return true
  }

  #isAtOther(place: OwnerRecord | undefined): boolean {
    return place !== undefined && place.owner !== this.#self && this.#isUp(place.owner)
  }

  #isUp(owner: number | null): boolean {
    return this.#rows.some(({ incarnation }) => incarnation === owner)
  }

  /** `ended`: the caller has its answer, or has none to expect. */
  async #goesTo(incarnation: number, call: ForwardedCall): Promise<'ended' | 'elsewhere' | 'lost'> {
    const peer = this.#peers.get(incarnation)
    if (!peer) return 'elsewhere'
    const { metrics } = this.#options
    const sentAt = performance.now()
    const outcome = await call.send(peer)
    metrics.forwarded(outcome)
    if (outcome === 'answered') {
      if (!call.isHeld) metrics.forwardedWithin((performance.now() - sentAt) / 1000)
      return 'ended'
    }
    if (outcome === 'lost') return call.wasLost() ? 'ended' : 'lost'
    if (call.canRepeat) return 'elsewhere'
    call.giveUp()
    return 'ended'
  }

  /** Connections to nodes that have ended fail at once, so that their callers do not wait. */
  #membersChanged(): void {
    const { nodes, key } = this.#options
    const { rows, incarnation } = nodes.view()
    this.#rows = rows
    this.#self = incarnation
    const before = this.#peers
    const reachable = rows.filter(({ address }) => address?.startsWith('https:'))
    const wasAlone = this.#isAlone
    // This node is among them: a call that it may have carried out goes to itself. One that has come may own an account
    // before this node sees it, so an address of its own is enough. Without any, only the owner may answer from memory.
    this.#isAlone = reachable.length === 0 && rows.length <= 1
    this.#peers = new Map(
      reachable.map((row) => [
        row.incarnation,
        before.get(row.incarnation) ?? new Peer(row.address ?? '', key, row.protocol),
      ]),
    )
    if (this.#isAlone !== wasAlone) this.#listen()
    for (const [id, peer] of before) if (!this.#peers.has(id)) peer.destroy()
  }
}
