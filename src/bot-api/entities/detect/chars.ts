/** The characters of the parts of a URL as they are found in running text. */

// The general punctuation block is out but for joiners and dashes, as is every kind of space.
const host = /^[.\w~\-[[\u{c0}-\u{10ffff}]--[\p{Z}\u2000-\u200b\u200e\u200f\u2016-\u206f]]]$/v
const path = /^[[\u{21}-\u{10ffff}]--[\p{Z}\p{Cc}<>"«»\u2000-\u200b\u200e\u200f\u2016-\u206f]]$/v

export const isHostChar = (char: string): boolean => host.test(char)
export const isPathChar = (char: string): boolean => path.test(char)
export const isUserChar = (char: string): boolean =>
  path.test(char) && !`/[]{}()'\`@`.includes(char)
export const isWordChar = (char: string): boolean => /^[\p{L}\p{N}_]$/u.test(char)

/** The index after the run of such characters that starts there. */
export function runEnd(text: string, start: number, holds: (char: string) => boolean): number {
  let i = start
  while (i < text.length) {
    const char = String.fromCodePoint(text.codePointAt(i)!)
    if (!holds(char)) break
    i += char.length
  }
  return i
}

/** The index where the run of such characters that ends there starts. */
export function runStart(
  text: string,
  end: number,
  floor: number,
  holds: (char: string) => boolean,
): number {
  let i = end
  while (i > floor) {
    const char = charBefore(text, i)
    if (!holds(char)) break
    i -= char.length
  }
  return Math.max(i, floor)
}

export function charBefore(text: string, index: number): string {
  const isPair = (text.charCodeAt(index - 1) & 0xfc00) === 0xdc00
  return text.slice(Math.max(index - (isPair ? 2 : 1), 0), index)
}

const endPunctuation = `.:;,('?!\``

/** Punctuation at the end of a path belongs to the sentence. */
export function trimPath(text: string, start: number, end: number): number {
  let i = end
  while (i > start && endPunctuation.includes(text[i - 1]!)) i--
  return i
}
