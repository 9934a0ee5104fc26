/** The integers that stand for native ids, as they were found or given for one event or result. */
import type { NewChat, NewMessage } from '../updates/commit.ts'

export interface Ids {
  chat(native: string): number
  /** Undefined for a message that was only mentioned and is not known. */
  message(chat: string, native: string): number | undefined
  /** Whether the account wrote it itself; undefined where the network's ids say nothing of it. */
  isOwn(chat: string, native: string): boolean | undefined
}

export interface GivenIds extends Ids {
  readonly newChats: readonly NewChat[]
  readonly newMessages: readonly NewMessage[]
  /** To be called once the new ones are committed. */
  stored(): void
}

/** A network whose native ids already are the reference's integers. */
export const integerIds: GivenIds = {
  chat: Number,
  message: (_, native) => Number(native),
  isOwn: () => undefined,
  newChats: [],
  newMessages: [],
  stored() {},
}
