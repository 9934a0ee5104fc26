/** Fills in what a provider's request says of a message. */
import type { CodeMessage } from './sender.ts'

export type Escape = (value: string) => string

const inJson: Escape = (value) => JSON.stringify(value).slice(1, -1)
export const asIs: Escape = (value) => value

/** How a value is written in a body of this content type. */
export function escapeFor(contentType: string): Escape {
  if (/json/i.test(contentType)) return inJson
  if (/urlencoded/i.test(contentType)) return encodeURIComponent
  return asIs
}

export function fill(
  template: string,
  { phone, code, text }: CodeMessage,
  escaped: Escape,
): string {
  const values: Readonly<Record<string, string>> = { phone, digits: phone.slice(1), code, text }
  return template.replace(/\{(phone|digits|code|text)\}/g, (_, name) => escaped(values[name] ?? ''))
}
