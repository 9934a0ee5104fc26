/** What a link in markup becomes: a mention, a text link, or nothing if its URL is not acceptable. */
import { checkLink } from './link.ts'
import { readMention } from './own-link.ts'
import type { MessageEntity } from './types.ts'

/** More than any browser's address; it also bounds the work on links nested in links. */
const maxLength = 4096

export function readTextLink(
  url: string,
): Pick<MessageEntity, 'type' | 'url' | 'user'> | undefined {
  if (url.length > maxLength || !url.isWellFormed()) return undefined
  const mention = readMention(url)
  if (mention) return mention
  const checked = checkLink(url)
  return 'url' in checked ? { type: 'text_link', url: checked.url } : undefined
}
