/** The faults of an account's own line to its network, as the contract suite asks for them. */
import type { Relay } from '../../support/relay.ts'
import type { Account } from '../contract/harness.ts'

export const lineFaults = (
  relay: Relay,
): Required<Pick<Account, 'cut' | 'silence' | 'unsilence'>> => ({
  cut: async () => relay.cut(),
  silence: async () => relay.silence(),
  unsilence: async () => relay.unsilence(),
})
