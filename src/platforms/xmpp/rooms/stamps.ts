/** What a room itself says of a message that it passes on: its place in the archive, and when it was said. */
import type { Element } from '@xmpp/client'
import { parseAddress } from '../address.ts'
import { ns } from '../namespaces.ts'

export interface Stamps {
  readonly archived: string | undefined
  /** Unix time in seconds. */
  readonly at: number
}

export function stampsOf(message: Element, room: string): Stamps {
  const archived = message.getChildren('stanza-id', ns.ids).find(({ attrs }) => attrs.by === room)
    ?.attrs.id
  const delay = message
    .getChildren('delay', ns.delay)
    .find(({ attrs }) => parseAddress(attrs.from)?.bare === room)
  const stamp = Date.parse(delay?.attrs.stamp ?? '')
  return { archived, at: Math.floor((Number.isNaN(stamp) ? Date.now() : stamp) / 1000) }
}
