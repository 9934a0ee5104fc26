/** Takes secrets out of any text that is about to be stored or printed, also out of finished JSON lines. */
import { redact as redactKeys } from '../security/redact.ts'

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
  'refresh_token',
  'access_token',
  'secret',
  'secret_token',
  'token',
].join('|')

/**
 * Each pattern is linear in the text, since a log line may be long and hostile. None of them matches a quote or
 * a backslash outside of whole JSON strings, so that a redacted JSON line is still one JSON line.
 */
const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [
    new RegExp(`(\\\\*")(${secretFields})\\1\\s*:\\s*(?:\\1[^"\\\\]*\\1|-?\\d[\\d.]*)`, 'gi'),
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
