/** Takes secrets and phone numbers out of any text that is about to be logged, stored or shown. */

/**
 * Each pattern here and below takes linear time, because the text may be long and hostile: after a failed match none starts
 * again at each character that it has read.
 */
const replacements: readonly (readonly [secret: RegExp, replacement: string])[] = [
  // The key in a bot path, also a mistyped one: any text there counts as a secret, except the pattern of a route. It
  // ends at a backslash, because the text may be escaped JSON.
  [/(\/bot)(?![:{-])(?:(\d{1,15})(?=:|%3a))?[^/?#\s"'\\]+/gi, '$1$2:[key]'],
  [/\b(\d{6,15})(?::|%3a)[\w-]{30,}/gi, '$1:[key]'],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[jwt]'],
  [/\bchp_([a-z]{3})_[0-9A-Za-z]+/g, 'chp_$1_[token]'],
  [/(?:\+|%2b)\d{3,11}(\d{4})(?!\d)/gi, '+[phone]$1'],
]

export function redactKeys(text: string): string {
  return replacements.reduce((clean, [secret, by]) => clean.replace(secret, by), text)
}

/** A phone number by its last four digits. */
export function maskPhone(phone: string): string {
  return `+${'*'.repeat(Math.max(0, phone.length - 5))}${phone.slice(-4)}`
}

/** The first letter and the domain of an address such as `ada@example.org`. */
export const maskAddress = (address: string): string => address.replace(/^(.)[^@]*/su, '$1***')

/** Of an account on XMPP, or of a mail box, wherever a sentence names it. */
const addresses = /(?<![^\s"'<>()@:/,;])[^\s"'<>()@:/,;]+@[\p{L}\p{N}.-]+/gu

export const maskAddresses = (text: string): string =>
  text.replace(addresses, (one) => maskAddress(one))

/** A JSON string; the name of a field with its colon, and with its value where that is a string or a number. The last may be cut off. */
const strings =
  /"((?:[^"\\]|\\.)*)(?:"(?:(\s*:\s*)(-?\d[\d.eE+-]*|"(?:[^"\\]|\\.)*(?:"|\\?$))?)?|\\?$)/gsu
/** Fields whose texts tell nothing of what people write. */
const plainFields =
  /^(?:id|\w+_id|type|method|action|parse_mode|offset|limit|timeout|error_code|language_code|mime_type|date)$/
/** Fields whose numbers stand for what people write, or for where they are. */
const textFields =
  /^(?:text|caption|phone|phone_number|first_name|last_name|title|question|latitude|longitude)$/
/** Why a call was refused; in any other object people write a field of this name. */
const refusal = /^\s*\{\s*"ok"\s*:\s*false\b/
/** What may stand between strings; the last word may be cut off. A line of a log may begin with a bracket, too. */
const betweenStrings =
  /^(?:[\s[\]{}:,\d.eE+-]|true|false|null)*(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)?$/

const isJson = (text: string): boolean =>
  /^\s*[[{]/.test(text) && betweenStrings.test(text.replace(strings, ''))

/**
 * JSON, perhaps cut off, with `by` in place of what people write: names of fields stay, and numbers, except those that stand
 * for a text. Anything but JSON is hidden as a whole.
 */
export function maskTexts(json: string, by: string): string {
  if (!isJson(json)) return json === '' ? '' : by
  const isRefusal = refusal.test(json)
  return json.replace(strings, (all, name: string, colon?: string, value?: string) => {
    // A string without a name stands in a list of what people write.
    if (colon === undefined) return `"${by}"`
    if (value === undefined) return all
    const isPlain = value.startsWith('"')
      ? plainFields.test(name) || (isRefusal && name === 'description')
      : !textFields.test(name)
    return isPlain ? all : `"${name}"${colon}"${by}"`
  })
}

const hidden = '[redacted]'

/** Field names whose values are secret wherever they occur, also in JSON that is quoted inside a string. */
const secretFields = [
  'authorization',
  'cookie',
  'set-cookie',
  'api_key',
  'key',
  'otp',
  'one_time_code',
  'password',
  'phone',
  'phone_number',
  'pin',
  'provider_token',
  'refresh_token',
  'access_token',
  'secret',
  'secret_token',
  'token',
].join('|')

/** JSON that is quoted four times, one in the other. */
const DEEPEST = 15

/**
 * None of them matches a quote or a backslash outside of whole JSON strings, so that a redacted JSON line is still one
 * JSON line.
 */
const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [
    new RegExp(
      `(\\\\{0,${DEEPEST}}")(${secretFields})\\1\\s*:\\s*(?:\\1[^"\\\\]*\\1|-?\\d[\\d.]*)`,
      'gi',
    ),
    `$1$2$1:$1${hidden}$1`,
  ],
  [new RegExp(`"(${secretFields})":"(?:[^"\\\\]|\\\\.)*"`, 'gi'), `"$1":"${hidden}"`],
  [new RegExp(`\\b(${secretFields}|code)=[^\\s&"'\\\\]+`, 'gi'), `$1=${hidden}`],
  [/\b(otp|code|password)(\s*(?:is|:)\s*)\d{4,8}\b/gi, `$1$2${hidden}`],
  [/\b(bearer|apikey|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${hidden}`],
]

export function redact(text: string): string {
  let safe = redactKeys(text)
  for (const [pattern, replacement] of patterns) safe = safe.replace(pattern, replacement)
  return safe
}

/** Lines of log that a caller can influence are no longer. */
const LONGEST_LINE = 300
const control = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/** Without characters that end a line, that move the cursor of a terminal, or that PostgreSQL refuses, such as NUL. */
export const withoutControl = (text: string): string => text.replace(control, ' ')

/** A text of a caller as one line of a log, without secrets. The cut may go through a character, whose half JSON must not have. */
export const lineOf = (text: string | null): string | null =>
  text === null ? null : redact(withoutControl(text)).slice(0, LONGEST_LINE).toWellFormed()

/** JSON as one line for every reader and terminal: some end a line at characters that JSON does not escape, or obey them. */
export const asOneLine = (json: string): string =>
  json.replace(
    /[\x7f-\x9f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** For `JSON.stringify`. */
export const linesOnly = (_: string, value: unknown) =>
  typeof value === 'string' ? lineOf(value) : value
