/** Users and chats of the reference as people and chats. */
import type { Chat, Person, Surface } from '../../../../machines/model/content.ts'
import { fields, integer, Malformed, maybeText, native, present } from './fields.ts'

const SURFACES: readonly Surface[] = ['private', 'group', 'supergroup', 'channel']

export function personOf(value: unknown): Person {
  const user = fields(value)
  return present({
    native: native(user.id),
    firstName: maybeText(user.first_name) ?? '',
    lastName: maybeText(user.last_name),
    username: maybeText(user.username),
    languageCode: maybeText(user.language_code),
    isBot: user.is_bot === true ? true : undefined,
  })
}

export function chatOf(value: unknown): Chat {
  const chat = fields(value)
  const id = integer(chat.id)
  const surface = maybeText(chat.type) ?? surfaceOf(id)
  if (!isSurface(surface)) throw new Malformed('the chat is of an unknown type')
  return present({
    native: `${id}`,
    surface,
    title: maybeText(chat.title),
    firstName: maybeText(chat.first_name),
    lastName: maybeText(chat.last_name),
    username: maybeText(chat.username),
    isForum: chat.is_forum === true ? true : undefined,
  })
}

/** What the form of an id says of its chat. */
export function surfaceOf(id: number): Surface {
  if (id > 0) return 'private'
  return id > -1_000_000_000_000 ? 'group' : 'supergroup'
}

const isSurface = (type: string): type is Surface => SURFACES.some((known) => known === type)
