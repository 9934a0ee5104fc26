/** Whether a text has anything to see: all kinds of blanks and joiners alone make no message. */

const blank =
  /[\s\u00a0\u1680\u180e\u2000-\u200f\u202e\u202f\u205f\u2800\u3000\ufeff\ufffc\u{e0000}-\u{e007f}]/u

export function isVisible(text: string): boolean {
  for (const char of text) if (!blank.test(char)) return true
  return false
}
