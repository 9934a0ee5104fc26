/** How people and chats are called. */
import type { Chat, Person, PersonName } from '../../api/sandbox-types.ts'

export const personName = ({ first_name, last_name }: PersonName): string =>
  [first_name, last_name].filter(Boolean).join(' ')

/** By what they are found and linked. */
export const handlesOf = ({ username, phone }: Person): string =>
  username ? `@${username} · ${phone}` : phone

export const chatName = ({ title, first_name, last_name, id }: Chat): string =>
  title ?? ([first_name, last_name].filter(Boolean).join(' ') || `${id}`)
