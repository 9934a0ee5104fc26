/** Counts the accounts that this node claims from others, and measures for how long those of an ended node were away. */
import type { CredentialFacts, Owned, Transition } from '../../actors/ports/ports.ts'
import type { Metrics } from '../observability/metrics.ts'

interface TakeoversOptions {
  /** The name of this node: a restart under it takes nothing over. */
  readonly name: string
  /** Since a node of that name was seen to beat; undefined for one that did not run beside this one. */
  silentMs(name: string): number | undefined
  readonly metrics: Pick<Metrics, 'tookOver' | 'tookOverWithin'>
}

export class Takeovers {
  readonly #options: TakeoversOptions
  /** Accounts of ended nodes that are not online here yet: their epoch here, and the name of that node. */
  readonly #coming = new Map<number, { readonly epoch: number; readonly from: string }>()

  constructor(options: TakeoversOptions) {
    this.#options = options
  }

  claimed({ credentialId, epoch, state, former }: CredentialFacts): void {
    const { name, silentMs, metrics } = this.#options
    this.#coming.delete(credentialId)
    if (!former || former.name === name || silentMs(former.name) === undefined) return
    metrics.tookOver(former.hasReleased ? 'handover' : 'ended')
    // One that was not online before does not come online because it is here.
    const wasOnline = state.startsWith('live.online')
    if (!former.hasReleased && wasOnline) {
      this.#coming.set(credentialId, { epoch, from: former.name })
    }
  }

  changed({ credentialId, epoch, publicState }: Pick<Transition, keyof Owned | 'publicState'>) {
    const coming = this.#coming.get(credentialId)
    if (coming?.epoch !== epoch || publicState !== 'active') return
    const { silentMs, metrics } = this.#options
    this.#coming.delete(credentialId)
    const milliseconds = silentMs(coming.from)
    if (milliseconds !== undefined) metrics.tookOverWithin(milliseconds / 1000)
  }

  lost(credentialIds: ReadonlySet<number>): void {
    for (const id of credentialIds) this.#coming.delete(id)
  }
}
