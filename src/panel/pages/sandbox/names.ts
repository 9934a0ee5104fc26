/** How people and chats are called. */
import type { Chat, PersonName } from '../../api/sandbox-types.ts'

export const personName = ({ first_name, last_name }: PersonName): string =>
  [first_name, last_name].filter(Boolean).join(' ')

export const chatName = ({ title, first_name, last_name, id }: Chat): string =>
  title ?? ([first_name, last_name].filter(Boolean).join(' ') || `${id}`)
