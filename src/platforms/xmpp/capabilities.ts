/** What XMPP can do here; the contract suite holds it to this. */
import type { Capabilities } from '../../../actors/platform.ts'

export const capabilities: Capabilities = {
  operations: ['send', 'edit', 'delete', 'act', 'resolve', 'describe'],
  surfaces: ['private'],
  content: ['text'],
  buttons: false,
  entities: [],
  updates: ['message', 'edited_message', 'deleted_messages'],
  // Bound by the size of a stanza, which counts bytes: `writing.ts` refuses what is within this and yet too large.
  limits: { textLength: 65_536 },
}
