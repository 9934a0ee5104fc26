/** The node machine with its effects: joining, a beat four times a second, and a new incarnation for a node declared gone. */
import type { EventObject } from 'xstate'
import { type NodeEvent, nodeMachine } from '../../machines/node/machine.ts'
import { HostedActor } from '../host/actor.ts'
import { ActorHost } from '../host/host.ts'
import type { Clock, Logger } from '../ports/ports.ts'
import { type NodeRow, Observer, type Verdict } from './observer.ts'

const BEAT_MS = 250
/** A longer pause between beats leaves a gap in the observation of the others. */
const GAP_MS = 3_000

export interface Joined {
  /** The number of this start of the process. */
  readonly incarnation: number
  /** The server has restarted lately: locks that are free say nothing yet. */
  readonly areLocksNew: boolean
}

/** The rows of all nodes. Everything rejects where the database does not answer in time. */
export interface NodeTable {
  /**
   * Adds a row for this start of the process and takes its lock. One of the same name that holds no lock is gone by then,
   * unless it is just joining or still listens; where the locks are new, only if it has ended for certain.
   */
  join(): Promise<Joined>
  /** Counts a beat; resolves with all rows that have not ended, or undefined where this node was declared gone. */
  beat(incarnation: number, state: 'up' | 'draining'): Promise<readonly NodeRow[] | undefined>
  /** False for a node that has beaten since, or has ended, or that still listens though its lock is free. */
  declareGone(verdict: Verdict): Promise<boolean>
  leave(incarnation: number): Promise<void>
}

interface NodeWorld {
  readonly table: NodeTable
  /** A monotonic clock. */
  readonly clock: Clock
  readonly logger: Logger
  /** The database has counted a beat that was sent at this time. */
  heard?(sentAt: number): void
  /** The set of nodes, or the state of one of them, has changed. */
  membersChanged?(): void
  /** The others have declared this node gone: they may own its accounts now. */
  declaredGone?(): void
}

type Send = (event: EventObject & NodeEvent) => void
type NodeActor = HostedActor<typeof nodeMachine, NodeEffects>

class NodeEffects {
  /** That of the actor before until this one has joined: what has ended claims nothing, and "none" would claim for nobody. */
  incarnation: number | undefined
  /** Why the last try to join failed. */
  joinFailure: unknown
  /** The time at which the last counted beat was sent. */
  heardAt: number
  observer = new Observer(true)
  readonly #world: NodeWorld
  /** The process is about to stop: no order changes that. */
  isStopping = false
  /** An operator has ordered it. */
  #isToDrain = false
  /** One line for an outage, not one for each beat. */
  #isHeard = true
  /** Which nodes the last beat has shown, in which states. */
  #members = ''

  constructor(world: NodeWorld, former?: number) {
    this.#world = world
    this.incarnation = former
    this.heardAt = world.clock.now()
  }

  join(send: Send): () => void {
    const { table, clock, logger } = this.#world
    let hasLeft = false
    const join = async () => {
      const sentAt = clock.now()
      const { incarnation, areLocksNew } = await table.join()
      if (hasLeft) return table.leave(incarnation)
      this.incarnation = incarnation
      this.observer = new Observer(areLocksNew)
      this.heardAt = sentAt
      send({ type: 'node.joined' })
    }
    join().catch((err) => {
      this.joinFailure = err
      logger.warn({ err }, 'this node could not join the others')
      if (!hasLeft) send({ type: 'join.failed' })
    })
    return () => {
      hasLeft = true
    }
  }

  /**
   * The next beat is sent a quarter of a second after the last, or at once where that one took longer: in a busy process a
   * timer, even of no time, would wait for everything else that came meanwhile.
   */
  beat(send: Send): () => void {
    const { clock, logger } = this.#world
    let timer: unknown
    let hasEnded = false
    // Without beats the others would declare this node gone.
    const onDefect = (err: unknown): NodeEvent[] => {
      logger.error({ err }, 'a beat of this node has met a defect')
      return []
    }
    const beat = async () => {
      for (let restMs = 0; restMs <= 0; ) {
        const sentAt = clock.now()
        const events = await this.#beatOnce(sentAt).catch(onDefect)
        if (hasEnded) return
        for (const event of events) send(event)
        if (hasEnded) return
        restMs = sentAt + BEAT_MS - clock.now()
        if (restMs > 0) timer = clock.setTimeout(beat, restMs)
      }
    }
    void beat()
    return () => {
      hasEnded = true
      clock.clearTimeout(timer)
    }
  }

  async #beatOnce(sentAt: number): Promise<NodeEvent[]> {
    const { table, clock, logger } = this.#world
    const incarnation = this.incarnation ?? 0
    let rows: Awaited<ReturnType<NodeTable['beat']>>
    try {
      rows = await table.beat(incarnation, this.#isLeaving ? 'draining' : 'up')
    } catch (err) {
      this.observer.interrupted()
      if (this.#isHeard) logger.warn({ err }, 'the database did not answer a beat of this node')
      this.#isHeard = false
      return []
    }
    if (!rows) return [{ type: 'beat.refused' }]
    const now = clock.now()
    if (now - this.heardAt > GAP_MS) this.observer.interrupted()
    this.heardAt = sentAt
    this.#isHeard = true
    this.#world.heard?.(sentAt)
    for (const verdict of this.observer.saw(rows, incarnation, now)) void this.#declare(verdict)
    const members = rows.map((row) => `${row.incarnation} ${row.state}`).join()
    const haveChanged = members !== this.#members
    this.#members = members
    if (haveChanged) this.#world.membersChanged?.()
    const order = this.#orderOf(rows.find((row) => row.incarnation === incarnation))
    return [{ type: 'beat.answered', tookMs: now - sentAt }, ...order]
  }

  get #isLeaving(): boolean {
    return this.isStopping || this.#isToDrain
  }

  /** The order of an operator since the last beat, as events. */
  #orderOf(own: NodeRow | undefined): NodeEvent[] {
    const isToDrain = own?.isToDrain === true
    if (isToDrain === this.#isToDrain) return []
    this.#isToDrain = isToDrain
    if (this.isStopping) return []
    return [{ type: isToDrain ? 'node.drain' : 'node.undrain' }]
  }

  async #declare(verdict: Verdict): Promise<void> {
    const { table, logger } = this.#world
    const { cause, row } = verdict
    const { name, incarnation } = row
    try {
      if (await table.declareGone(verdict))
        logger.warn({ name, incarnation, cause }, 'a node is gone')
    } catch (err) {
      logger.warn({ err, name, incarnation }, 'a node could not be declared gone')
    }
  }
}

const host = new ActorHost<typeof nodeMachine, NodeEffects>({
  provide: (host) =>
    nodeMachine.provide({
      actors: {
        join: host.service((effects, send) => effects.join(send)),
        beat: host.service((effects, send) => effects.beat(send)),
      },
    }),
})

/** The view of this node of itself and the others. */
export interface NodesView {
  readonly incarnation: number | undefined
  readonly state: string
  /** Since its last counted beat was sent. */
  readonly beatAgeMs: number
  /** Itself too, once it has beaten. */
  readonly rows: readonly (NodeRow & { readonly beatAgeMs: number })[]
}

/** This process among the nodes: one actor after the other, since a node that was declared gone joins as a new one. */
export class Membership {
  readonly #world: NodeWorld
  #effects: NodeEffects
  #actor: NodeActor | undefined
  /** Until this node has joined. */
  #changed: (() => void) | undefined
  #isLeaving = false

  constructor(world: NodeWorld) {
    this.#world = world
    this.#effects = new NodeEffects(world)
  }

  /** Resolves once this node has joined and sees the others; rejects if it cannot join at once. */
  join(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Called by each actor in turn, because the others may declare this node gone before its first beat.
    this.#changed = () => {
      const actor = this.#actor
      if (actor?.snapshot.matches('member') && this.view.rows.length > 0) {
        this.#changed = undefined
        resolve()
      }
      if (!actor?.snapshot.matches({ joining: 'waiting' })) return
      this.#changed = undefined
      actor.tell({ type: 'node.leave' })
      reject(this.#effects.joinFailure)
    }
    this.#begin()
    return promise
  }

  /** From now on the others see that it will leave. A node that is declared gone meanwhile does not join again. */
  drain(): void {
    this.#isLeaving = true
    this.#effects.isStopping = true
    this.#actor?.tell({ type: 'node.drain' })
  }

  /** Marks its row at once, so that the others need not detect it. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    this.#actor?.tell({ type: 'node.leave' })
    const { incarnation } = this.#effects
    if (incarnation === undefined) return
    const { table, logger } = this.#world
    await table.leave(incarnation).catch((err) => {
      logger.warn({ err }, 'the others have to notice by themselves that this node has left')
    })
  }

  get view(): NodesView {
    const { incarnation, heardAt, observer } = this.#effects
    const now = this.#world.clock.now()
    return {
      incarnation,
      state: this.#state,
      beatAgeMs: now - heardAt,
      rows: observer.view(now),
    }
  }

  /** Since a node of that name was seen to beat, also if it has ended; undefined for one that this node has not seen lately. */
  silentMs(name: string): number | undefined {
    return this.#effects.observer.silentMs(name, this.#world.clock.now())
  }

  get #state(): string {
    // What has crashed still has the value from before.
    if (this.#actor?.snapshot.status === 'error') return 'gone'
    const value = this.#actor?.snapshot.value ?? 'joining'
    if (typeof value === 'string') return value
    return 'member' in value ? String(value.member) : 'joining'
  }

  #begin(): void {
    const { clock } = this.#world
    const effects = new NodeEffects(this.#world, this.#effects.incarnation)
    this.#effects = effects
    const options = { clock, input: undefined, changed: () => this.#changed?.() }
    const actor = host.begin(options, (ref) => new HostedActor(ref, effects, clock, host))
    this.#actor = actor
    actor.onEnd((cause) => this.#ended(cause))
  }

  #ended(cause: unknown): void {
    if (cause === undefined && this.#state !== 'gone') return
    const { logger, declaredGone } = this.#world
    const { incarnation } = this.#effects
    if (cause === undefined) logger.error({ incarnation }, 'the others declared this node gone')
    else logger.error({ err: cause, incarnation }, 'the actor of this node crashed')
    // After a crash the next incarnation does: it has the same name.
    declaredGone?.()
    // Not at once: an actor that cannot begin must not spin.
    this.#world.clock.setTimeout(() => {
      if (!this.#isLeaving) this.#begin()
    }, BEAT_MS)
  }
}
