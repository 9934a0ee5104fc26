/** `a=b&c=d`, as queries and bodies carry it, strict about what is no UTF-8. */
import { isUtf8 } from 'node:buffer'
import { failed } from '../../../machines/model/failure.ts'

/** `form` has one character a byte, as Node hands out request lines. An escape that is none stays as it is. */
export function* formEntries(form: string): IterableIterator<[string, string]> {
  for (const pair of form.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    if (at < 0) yield [decoded(pair), '']
    else yield [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
  }
}

function decoded(text: string): string {
  if (/^[\w.~*-]*$/.test(text)) return text
  const bytes = Buffer.from(
    text
      .replaceAll('+', ' ')
      .replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  return utf8(bytes)
}

/** Rejects bytes that a decoder would silently replace. */
export function utf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw failed('bad_request', 'strings must be encoded in UTF-8')
  return bytes.toString()
}
