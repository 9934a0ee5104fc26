/** Estimates the memory of a stanza, which bounds the waiting ones: a stanza may be as large as a thousand others. */
import type { Element } from '@xmpp/client'

/** The weight of an empty element. */
const bareElement = 200

/** In characters. Not by calls within calls: the depth is the writer's choice. */
export function weightOf(stanza: Element): number {
  let weight = 0
  const rest: (Element | string)[] = [stanza]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') {
      weight += next.length
      continue
    }
    weight += bareElement
    for (const value of Object.values(next.attrs)) weight += String(value).length
    for (const child of next.children) rest.push(child)
  }
  return weight
}
