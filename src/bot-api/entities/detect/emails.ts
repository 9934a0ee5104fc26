/** What counts as an e-mail address in running text; stricter than what mail servers accept. */

const user = /^(?:[\w-]{0,26}[.+]){0,10}[\w-]{1,35}$/
const host = /^(?:(?:[a-z\d][\w-]{0,28})?[a-z\d]\.){1,6}[a-z]{2,8}$/i

export function isEmail(text: string): boolean {
  const at = text.indexOf('@')
  return at > 0 && user.test(text.slice(0, at)) && host.test(text.slice(at + 1))
}
