/** What XMPP can do here; the contract suite holds it to this. */
import type { Capabilities } from '../../../actors/platform.ts'

export const capabilities: Capabilities = {
  operations: [
    'send',
    'send_album',
    'edit',
    'edit_caption',
    'delete',
    'forward',
    'copy',
    'act',
    'resolve',
    'describe',
    'leave',
    'count_members',
    'administrators',
    'member',
    'set_title',
    'set_description',
  ],
  surfaces: ['private', 'supergroup'],
  content: [
    'text',
    'photo',
    'video',
    'animation',
    'audio',
    'voice',
    'document',
    'location',
    'venue',
    'contact',
  ],
  buttons: false,
  entities: ['bold', 'italic', 'strikethrough', 'code', 'pre', 'blockquote'],
  updates: ['message', 'edited_message', 'deleted_messages'],
  // Bound by the size of a stanza, which counts bytes: `writing.ts` refuses what is within this and yet too large.
  limits: { textLength: 65_536 },
}
