/** Native ids and the integers that stand for them. */
import type { Surface } from '../../machines/model/content.ts'

export interface NewChat {
  readonly native: string
  readonly chatId: number
}

export interface NewMessage extends NewChat {
  readonly messageId: number
  /** Written by the account itself. */
  readonly own: boolean
}

/** The native ids in one event or result. */
export interface WantedIds {
  readonly chats: ReadonlyMap<string, Surface>
  /** Messages by their chat; each gets an integer if it has none yet. */
  readonly messages: ReadonlyMap<string, ReadonlySet<string>>
  /** Native ids of the messages that the account wrote itself. */
  readonly own: ReadonlySet<string>
  /** Messages that are only mentioned get no integer: an old message must not get a new, higher number. */
  readonly mentioned: ReadonlyMap<string, ReadonlySet<string>>
}

export interface Ids {
  chat(native: string): number
  /** Undefined for a message that is only mentioned and is unknown. */
  message(chat: string, native: string): number | undefined
  /** Whether the account wrote the message; undefined for networks whose ids are integers already. */
  isOwn(chat: string, native: string): boolean | undefined
}

export interface GivenIds extends Ids {
  readonly newChats: readonly NewChat[]
  readonly newMessages: readonly NewMessage[]
  /** To be called once the new ids are committed. */
  stored(): void
}
