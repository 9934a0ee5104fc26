/** Character references of HTML: the four named ones the API knows, and numeric ones. */

const named = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
])
const reference = /&(?:#x([\dA-Fa-f]*)|#(\d*)|([A-Za-z]*));?/y
const maxLength = 9

/** Reads the reference at an `&`. Undefined: there is none, and the `&` stands for itself. */
export function readReference(
  text: string,
  start: number,
): { char: string; end: number } | undefined {
  reference.lastIndex = start
  const [matched = '', hex, decimal, name] = reference.exec(text) ?? []
  const char = name === undefined ? numeric(hex, decimal, matched) : named.get(name)
  return char === undefined ? undefined : { char, end: start + matched.length }
}

function numeric(
  hex: string | undefined,
  decimal: string | undefined,
  matched: string,
): string | undefined {
  if (matched.replace(';', '').length > maxLength) return undefined
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : undefined
}
