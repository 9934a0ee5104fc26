/** The person one acts as in an open chat, and the way to the other chats: for everything shown in it. */
import { createContext, use } from 'react'
import type { PersonApi } from '../../api/sandbox.ts'
import type { Chat, Person } from '../../api/sandbox-types.ts'

export interface Acting {
  readonly person: Person
  readonly people: readonly Person[]
  /** All chats in which this person may write. */
  readonly chats: readonly Chat[]
  readonly api: PersonApi
  open(chat: number): void
}

export const ActingContext = createContext<Acting | undefined>(undefined)

export function useActing(): Acting {
  const acting = use(ActingContext)
  if (!acting) throw new Error('outside of a chat')
  return acting
}
