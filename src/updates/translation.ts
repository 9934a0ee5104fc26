/** What the log needs to know to turn what happened on a network into updates of the bot API. */
import type { Owned } from '../../actors/ports/ports.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { NewChat, NewMessage } from './commit.ts'
import type { Draft } from './row.ts'

export interface Translated {
  readonly drafts: readonly Draft[]
  /** Ids that these events introduce; stored in the same commit. */
  readonly chats: readonly NewChat[]
  readonly messages: readonly NewMessage[]
  /** To be called once the commit is through. */
  stored(): void
}

export interface Translation {
  /** Rejects with `OwnershipLost` for an owner that another one came after. */
  drafts(owned: Owned, happenings: readonly Happening[]): Promise<Translated>
  /** What was given for this credential is not to be trusted any more. */
  forget(credentialId: number): void
}
