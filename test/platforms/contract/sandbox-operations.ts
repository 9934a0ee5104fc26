/** One of every operation whose round trips are in test/service and in the tests of single platforms. */
import type { Media } from '../../../machines/model/content.ts'
import type { Operation } from '../../../machines/model/operation.ts'

const sticker: Media = { kind: 'sticker', file: { native: 'x' } }
const words = { kind: 'text' as const, text: 'x', entities: [] }
const article = { id: '1', type: 'article', title: 'x', content: words }

export const sandboxOperations = {
  sticker_set: () => ({ kind: 'sticker_set', name: 'x' }),
  upload_sticker: (chat) => ({
    kind: 'upload_sticker',
    person: chat,
    media: sticker,
    format: 'static',
  }),
  create_sticker_set: (chat) => ({
    kind: 'create_sticker_set',
    person: chat,
    name: 'x',
    title: 'x',
    type: 'regular',
    needsRepainting: false,
    stickers: [],
  }),
  edit_sticker_set: () => ({ kind: 'edit_sticker_set', name: 'x', change: { do: 'delete' } }),
  edit_sticker: () => ({ kind: 'edit_sticker', sticker, change: { do: 'remove' } }),
  custom_emoji: () => ({ kind: 'custom_emoji', ids: ['1'] }),
  topic_icons: () => ({ kind: 'topic_icons' }),
  set_chat_stickers: (chat) => ({ kind: 'set_chat_stickers', chat }),
  answer_inline: () => ({
    kind: 'answer_inline',
    query: '1',
    results: [],
    cacheSeconds: 0,
    isPersonal: false,
    nextOffset: '',
  }),
  prepare_inline: (chat) => ({ kind: 'prepare_inline', person: chat, result: article, places: [] }),
  answer_web_app: () => ({ kind: 'answer_web_app', query: '1', result: article }),
  prepare_key: (chat) => ({ kind: 'prepare_key', person: chat, key: { text: 'x' } }),
  edit_inline: () => ({ kind: 'edit_inline', inline: '1', change: { kind: 'edit_buttons' } }),
  edit_general_topic: (chat) => ({ kind: 'edit_general_topic', chat, change: { do: 'hide' } }),
  unpin_topic: (chat) => ({ kind: 'unpin_topic', chat }),
  set_member_title: (chat) => ({ kind: 'set_member_title', chat, person: chat, title: 'x' }),
  set_member_tag: (chat) => ({ kind: 'set_member_tag', chat, person: chat, tag: 'x' }),
  ban_sender: (chat) => ({ kind: 'ban_sender', chat, from: chat }),
  unban_sender: (chat) => ({ kind: 'unban_sender', chat, from: chat }),
  boosts: (chat) => ({ kind: 'boosts', chat, person: chat }),
  verify: (chat) => ({ kind: 'verify', chat, description: '' }),
  unverify: (chat) => ({ kind: 'unverify', chat }),
  set_emoji_status: (chat) => ({ kind: 'set_emoji_status', person: chat }),
  send_ephemeral: (chat) => ({ kind: 'send_ephemeral', chat, receiver: chat, content: words }),
  edit_ephemeral: (chat) => ({ kind: 'edit_ephemeral', chat, receiver: chat, ephemeral: 1 }),
  delete_ephemeral: (chat) => ({ kind: 'delete_ephemeral', chat, receiver: chat, ephemeral: 1 }),
} satisfies Record<string, (chat: string) => Operation>
