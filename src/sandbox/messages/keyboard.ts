/** A keyboard on its way into a message: no larger than the reference stores it, and fit for its chat. */
import { failed } from '../../../machines/model/failure.ts'
import type { Key, ReplyKeyboard } from '../../../machines/model/reply-keyboard.ts'
import { storable } from './draft.ts'

/** TDLib's `get_reply_markup` leaves out what goes beyond these. */
const KEYS_IN_ROW = 12
const KEYS = 300

/** What only somebody alone with the bot can be asked for. */
const PRIVATE: Readonly<Record<string, string>> = {
  request_contact: 'phone number can be requested',
  request_location: 'location can be requested',
  request_poll: 'poll can be requested',
  request_users: 'users can be requested',
  request_chat: 'chats can be requested',
  web_app: 'Web App buttons can be used',
}

/** Undefined where no key is left: then there is none. */
export function checkedKeyboard(given: ReplyKeyboard, chat: number): ReplyKeyboard | undefined {
  const isPrivate = chat > 0
  const { isSelective, ...rest } = storable(given) as ReplyKeyboard
  // Whom else could it be for?
  const keyboard = { ...rest, ...(isSelective && !isPrivate && { isSelective }) } as ReplyKeyboard
  if (keyboard.kind !== 'keys') return keyboard
  const rows = fitted(keyboard.rows)
  if (!isPrivate) rows.flat().forEach(assertPublic)
  return rows.length > 0 ? { ...keyboard, rows } : undefined
}

function fitted(rows: readonly (readonly Key[])[]): Key[][] {
  let left = KEYS
  const taken = rows.map((row) => {
    const keys = row.filter(({ text }) => text !== '').slice(0, Math.min(KEYS_IN_ROW, left))
    left -= keys.length
    return keys
  })
  return taken.filter((row) => row.length > 0)
}

function assertPublic({ more = {} }: Key): void {
  const asked = Object.keys(PRIVATE).find((name) => more[name])
  if (asked) throw failed('bad_request', `${PRIVATE[asked]} in private chats only`)
}
