/** What XMPP can do here; the contract suite holds it to this. */
import { operationsOf } from '../../../actors/ports/handlers.ts'
import type { Capabilities } from '../../../actors/ports/platform.ts'
import { SUPPORTED, TEXT_LENGTH } from './content.ts'
import { handlers } from './handlers.ts'

export const capabilities: Capabilities = {
  operations: operationsOf(handlers),
  surfaces: ['private', 'supergroup'],
  content: SUPPORTED,
  gifs: true,
  cosmetic: [
    'disable_notification',
    'protect_content',
    'show_caption_above_media',
    'has_spoiler',
    'link_preview_options',
    'disable_web_page_preview',
    'foursquare_id',
    'foursquare_type',
    'google_place_id',
    'google_place_type',
  ],
  buttons: false,
  entities: ['bold', 'italic', 'strikethrough', 'code', 'pre', 'blockquote'],
  updates: ['message', 'edited_message', 'deleted_messages', 'my_chat_member'],
  limits: { textLength: TEXT_LENGTH },
}
