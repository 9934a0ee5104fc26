/** Takes secrets and phone numbers out of text that is about to be logged. */

const replacements: readonly (readonly [secret: RegExp, replacement: string])[] = [
  // The key in a bot path, also a mistyped one: whatever stands there is treated as a secret, but for a route's
  // pattern. It ends at a backslash, so that the text may be JSON already.
  [/(\/bot)(?![:{-])(?:(\d{1,15})(?=:|%3a))?[^/?#\s"'\\]+/gi, '$1$2:[key]'],
  [/\b(\d{6,15})(?::|%3a)[\w-]{30,}/gi, '$1:[key]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[jwt]'],
  [/\bchp_([a-z]{3})_[0-9A-Za-z]+/g, 'chp_$1_[token]'],
  [/(?:\+|%2b)\d{3,11}(\d{4})(?!\d)/gi, '+[phone]$1'],
]

export function redact(text: string): string {
  return replacements.reduce((clean, [secret, by]) => clean.replace(secret, by), text)
}

/** A phone number by its last four digits. */
export function maskPhone(phone: string): string {
  return `+${'*'.repeat(Math.max(0, phone.length - 5))}${phone.slice(-4)}`
}
