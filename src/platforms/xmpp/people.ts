/** People and private chats as the rest of the gateway knows them; both are a bare address here. */
import type { Chat, Person } from '../../../machines/content.ts'
import { nameOf } from './address.ts'

export function personAt(bare: string, firstName = nameOf(bare)): Person {
  return { native: bare, firstName, username: bare }
}

export function privateChat(bare: string, firstName = nameOf(bare)): Chat {
  return { native: bare, surface: 'private', firstName, username: bare }
}
