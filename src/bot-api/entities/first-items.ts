/** Cuts a JSON array short before it is parsed: what is dropped anyway costs no more than a look at its characters. */

/** The text itself unless it is an array of more than `most` items; a text that is no JSON stays none. */
export function firstItems(json: string, most: number): string {
  if (json.trimStart()[0] !== '[') return json
  let depth = 0
  let items = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === 0x22) at = closingQuote(json, at)
    else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2c && depth === 1 && ++items === most) return `${json.slice(0, at)}]`
  }
  return json
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1
  while (at < text.length && text.charCodeAt(at) !== 0x22)
    at += text.charCodeAt(at) === 0x5c ? 2 : 1
  return at
}
