/** Forms that text fields must have, and what is said of a text that has another. */

export const NOT_BLANK = '\\S'
export const ONE_TIME_CODE = '^[0-9]{6,8}$'
export const WORDS = '^[a-z_]{1,32}(,[a-z_]{1,32}){0,15}$'
export const USERNAME = '^[A-Za-z][A-Za-z0-9_]{3,31}$'

const reasons: Readonly<Record<string, string>> = {
  [NOT_BLANK]: 'must not be blank',
  [ONE_TIME_CODE]: 'must be 6 to 8 digits',
  [WORDS]: 'must be a word, or several with commas between',
  [USERNAME]: 'must be 4 to 32 letters, digits and underscores, a letter first',
}

/** Of a pattern in a schema. */
export const reasonOfForm = (pattern: string): string =>
  reasons[pattern] ?? 'does not have the expected form'
