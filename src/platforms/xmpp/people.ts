/** People and private chats as the rest of the gateway knows them; both are a bare address here. */
import type { Chat } from '../../../machines/model/content.ts'
import type { Person } from '../../../machines/model/person.ts'
import { nameOf } from './address.ts'

export function personAt(bare: string, firstName = nameOf(bare)): Person {
  return { native: bare, firstName, username: bare }
}

export function privateChat(bare: string, firstName = nameOf(bare)): Chat {
  return { native: bare, surface: 'private', firstName, username: bare }
}

/** Words between two who are in the same room, where one need not know who the other is. */
export function whispering(
  room: string,
  nick: string,
): { readonly chat: Chat; readonly person: Person } {
  const native = `${room}/${nick}`
  return {
    chat: { native, surface: 'private', firstName: nick },
    person: { native, firstName: nick },
  }
}
