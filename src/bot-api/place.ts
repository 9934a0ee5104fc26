/** What the gateway keeps of a bot it keeps for a language, a chat or somebody: what these are called there. */
import { failed } from '../../machines/model/failure.ts'
import { type Arguments, chatFrom } from './arguments.ts'

/** Empty for those whose language has nothing of its own. */
export function languageOf(args: Arguments): string {
  const language = args.text('language_code') ?? ''
  if (/^([a-z]{2})?$/.test(language)) return language
  throw failed('bad_request', 'LANG_CODE_INVALID')
}

/** Numbers and names as they are compared; `what` is told apart by the reference's name for it. */
export const idIn = (args: Arguments, what: 'chat_id' | 'user_id'): string =>
  what === 'user_id' ? `${args.userId()}` : `${chatFrom(args.text(what) ?? '')}`.toLowerCase()
