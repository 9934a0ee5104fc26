/** One of every operation whose round trips are in test/service and in the tests of single platforms. */
import type { Media } from '../../../machines/model/content.ts'
import type { Operation } from '../../../machines/model/operation.ts'

const none = { text: '', entities: [] }
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
  edit_story: () => ({ kind: 'edit_story', story: 1, media: sticker, caption: none }),
  repost_story: (chat) => ({ kind: 'repost_story', from: chat, story: 1, activeSeconds: 86_400 }),
  for_business: () => ({
    kind: 'for_business',
    connection: 'x',
    operation: { kind: 'business_connection' },
  }),
  business_connection: () => ({ kind: 'business_connection' }),
  delete_for_business: () => ({ kind: 'delete_for_business', messages: ['1'] }),
  set_username: () => ({ kind: 'set_username', username: 'somebody' }),
  available_gifts: () => ({ kind: 'available_gifts' }),
  send_gift: (chat) => ({ kind: 'send_gift', chat, gift: 'x', text: none, paysUpgrade: false }),
  gift_premium: (chat) => ({
    kind: 'gift_premium',
    person: chat,
    months: 3,
    stars: 1000,
    text: none,
  }),
  owned_gifts: () => ({ kind: 'owned_gifts', without: [], byPrice: false, limit: 1 }),
  convert_gift: () => ({ kind: 'convert_gift', gift: 'x' }),
  upgrade_gift: () => ({ kind: 'upgrade_gift', gift: 'x', keepsDetails: true, stars: 0 }),
  transfer_gift: (chat) => ({ kind: 'transfer_gift', gift: 'x', chat, stars: 0 }),
  set_gift_settings: () => ({
    kind: 'set_gift_settings',
    showsButton: true,
    accepted: {
      unlimited: true,
      limited: true,
      unique: true,
      premium: true,
      fromChannels: true,
    },
  }),
  star_balance: () => ({ kind: 'star_balance' }),
  transfer_stars: () => ({ kind: 'transfer_stars', stars: 1 }),
} satisfies Record<string, (chat: string) => Operation>
