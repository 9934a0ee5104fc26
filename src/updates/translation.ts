/** The port through which the update log turns events of a network into updates of the bot API. */
import type { Owned } from '../../actors/ports/ports.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { NewChat, NewMessage } from '../identities/ids.ts'
import type { Draft } from './row.ts'

export interface Translated {
  readonly drafts: readonly Draft[]
  /** New ids of these events, stored in the same commit. */
  readonly chats: readonly NewChat[]
  readonly messages: readonly NewMessage[]
  /** To be called once the commit has succeeded. */
  stored(): void
}

export interface Translation {
  /** Rejects with `OwnershipLost` when another node has claimed the credential. */
  drafts(owned: Owned, happenings: readonly Happening[]): Promise<Translated>
  /** Drops the cached ids of this credential. */
  forget(credentialId: number): void
}
