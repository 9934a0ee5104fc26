/** The members of a JSON object as they stand in its text, those of one name included. */

/** How many there are. `text` is an object in valid JSON. */
export function memberCount(text: string): number {
  let count = 0
  for (const _ of colons(text)) count++
  return count
}

/** `text` is an object in valid JSON. */
export function membersInOrder(text: string): [name: string, value: unknown][] {
  const members: [string, unknown][] = []
  let from = text.indexOf('{') + 1
  for (const { colon, end } of colons(text)) {
    const [name, value] = [text.slice(from, colon), text.slice(colon + 1, end)]
    members.push([JSON.parse(name), JSON.parse(value)])
    from = end + 1
  }
  return members
}

/** Where each member of the outermost object has its colon, and where it ends. */
function* colons(text: string): IterableIterator<{ colon: number; end: number }> {
  let depth = 0
  let colon = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = closingQuote(text, at)
    else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x3a && depth === 1) colon = at
    else {
      const isClosing = code === 0x7d || code === 0x5d
      if (depth === 1 && colon >= 0 && (isClosing || code === 0x2c)) {
        yield { colon, end: at }
        colon = -1
      }
      if (isClosing) depth--
    }
  }
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1
  return at
}
