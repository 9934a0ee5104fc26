/** The example network as the contract suite drives it: its protocol over the loopback network. */
import type { Test } from 'tap'
import { createGuardedAgent } from '../../../src/net/guard.ts'
import { quietLogger } from '../../support/logger.ts'
import type { ContractHarness } from '../contract/harness.ts'
import { loopbackHarness } from '../kit/harness.ts'
import { LoopbackNetwork, type Routes } from '../kit/network.ts'
import { examplePlatform } from './platform.ts'

const HOLD_MS = 5_000

const routes: Routes = {
  me: ({ person: { id, name } }) => ({ id, name }),
  async events({ network, person, body, signal }) {
    const due = () => network.eventsAfter(person, Number(body.after))
    if (due().length === 0) {
      await network.change(AbortSignal.any([signal, AbortSignal.timeout(HOLD_MS)]))
    }
    return due()
  },
  send({ network, person, body }) {
    const { to, text, ...more } = body as { to: number; text: string; requestId: string }
    return network.send(person, to, text, more)
  },
}

export async function exampleHarness(t: Test): Promise<ContractHarness> {
  const network = await LoopbackNetwork.start(t, routes)
  const agent = createGuardedAgent({ allowPrivate: true })
  t.teardown(() => agent.destroy())
  return loopbackHarness(t, network, {
    platform: () => examplePlatform(quietLogger, agent),
    method: 'token',
    fields: (token, url) => ({ token, url }),
  })
}
