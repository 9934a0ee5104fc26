/** Changes of state that nodes tell each other, for panels that watch all accounts of a user. */
import { LRUCache } from 'lru-cache'
import type { CredentialFacts, Transition } from '../../actors/ports/ports.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { TimelineBuffer } from '../credentials/timeline.ts'
import type { Bus } from './bus.ts'

const MOST_ELSEWHERE = 100_000

/** Tells other nodes of changes, and watchers here of theirs. Returns the user of a credential that runs, here or there. */
export function shareTransitions(
  timeline: TimelineBuffer,
  factsOf: (credentialId: number) => CredentialFacts | undefined,
  bus: Pick<Bus, 'tell' | 'on' | 'onGap'> | undefined,
): (credentialId: number) => number | undefined {
  const elsewhere = new LRUCache<number, number>({
    maxSize: MOST_ELSEWHERE,
    sizeCalculation: () => 1,
  })
  bus?.on('transition', (hint) => {
    const { userId, ...transition } = hint as unknown as Transition & { readonly userId: number }
    elsewhere.set(transition.credentialId, userId)
    timeline.heard(transition)
  })
  bus?.onGap(() => timeline.missed())
  timeline.watchAll((transition) => {
    const userId = factsOf(transition.credentialId)?.userId
    if (userId !== undefined) bus?.tell('transition', { ...transition, userId } as unknown as Json)
  })
  return (credentialId) => factsOf(credentialId)?.userId ?? elsewhere.get(credentialId)
}
