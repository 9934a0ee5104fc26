/** The person one acts as in an open chat, and the way to the other chats: for everything shown in it. */
import { useQuery } from '@tanstack/react-query'
import { createContext, use } from 'react'
import {
  type Chat,
  type Group,
  groupsQuery,
  type Person,
  type PersonApi,
} from '../../api/sandbox.ts'

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

/** The channels that this person owns, and in whose names they may write to supergroups. */
export function useOwnChannels(person: number): readonly Group[] {
  const groups = useQuery(groupsQuery)
  const owns = ({ members }: Group) =>
    members.some((member) => member.person.id === person && member.role === 'owner')
  return groups.data?.items.filter((group) => group.type === 'channel' && owns(group)) ?? []
}

/** Whether the person is an administrator of the group or channel. */
export const runs = (group: Group, person: Person): boolean =>
  group.members.some(
    (member) => member.person.id === person.id && ['owner', 'admin'].includes(member.role),
  )
