/** A supervisor over accounts of a fake network. */
import type { Test } from 'tap'
import type { CredentialActor } from '../../../actors/credential/actor.ts'
import { CredentialSupervisor } from '../../../actors/credential/supervisor.ts'
import type { CredentialFacts } from '../../../actors/ports/ports.ts'
import { settled } from '../../support/clock.ts'
import { CredentialRig, factsOf } from './rig.ts'

export class SupervisorRig extends CredentialRig {
  readonly crashes: unknown[] = []
  readonly supervisor: CredentialSupervisor
  /** Another node claims each account as soon as it was started here. */
  isRobbed = false

  constructor(t: Test) {
    super(t)
    this.supervisor = new CredentialSupervisor({
      ...this.world,
      platforms: new Map([['fake', this.platform.port]]),
      onCrash: (cause) => this.crashes.push(cause),
      claimed: (credentialId) => {
        const [facts] = [...this.supervisor.owned()].filter(
          (one) => one.credentialId === credentialId,
        )
        if (this.isRobbed && facts) this.supervisor.lose(facts)
      },
    })
    t.teardown(() => this.supervisor.stop())
  }

  async find(credentialId: number, facts: Partial<CredentialFacts> = {}): Promise<CredentialActor> {
    this.store.facts.set(credentialId, factsOf(credentialId, facts))
    const actor = await this.supervisor.find(credentialId)
    await settled()
    return actor
  }

  async crash(credentialId: number): Promise<void> {
    const actor = this.supervisor.peek(credentialId)
    if (!actor?.isActive) throw new Error('it does not live')
    const poison = Object.defineProperty({ type: 'request.settled' }, 'reply', {
      get: () => {
        throw new Error('boom')
      },
    })
    actor.tell(poison as never)
    await settled()
  }

  /** Until the restart that is due has happened. */
  async restart(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds * 1.2)
  }
}
