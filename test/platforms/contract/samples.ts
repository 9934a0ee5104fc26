/** One of every operation and of every content, for asking what a platform refuses. */
import type { Content } from '../../../machines/model/content.ts'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import type { Operation, OperationKind } from '../../../machines/model/operation.ts'

import { sandboxOperations } from './sandbox-operations.ts'

const text = (value: string) => ({ text: value, entities: [] })
const words = { kind: 'text' as const, ...text('x') }
const media = (kind: MediaKind): Media => ({ kind, file: { native: 'x' } })
const carrying = (kind: MediaKind) => ({
  kind: 'media' as const,
  media: media(kind),
  caption: text(''),
})

export const operations: Record<OperationKind, (chat: string) => Operation> = {
  send: (chat) => ({ kind: 'send', chat, content: words }),
  send_album: (chat) => ({ kind: 'send_album', chat, contents: [carrying('photo')] }),
  edit: (chat) => ({ kind: 'edit', chat, message: '1', content: words }),
  edit_caption: (chat) => ({ kind: 'edit_caption', chat, message: '1', caption: text('x') }),
  edit_buttons: (chat) => ({ kind: 'edit_buttons', chat, message: '1' }),
  edit_location: (chat) => ({ kind: 'edit_location', chat, message: '1' }),
  stop_poll: (chat) => ({ kind: 'stop_poll', chat, message: '1' }),
  delete: (chat) => ({ kind: 'delete', chat, message: '1' }),
  forward: (chat) => ({ kind: 'forward', chat, from: chat, message: '1' }),
  copy: (chat) => ({ kind: 'copy', chat, from: chat, message: '1' }),
  react: (chat) => ({ kind: 'react', chat, message: '1', reactions: [] }),
  act: (chat) => ({ kind: 'act', chat, action: 'typing' }),
  answer: () => ({ kind: 'answer', callback: '1' }),
  resolve: () => ({ kind: 'resolve', name: 'nobody' }),
  describe: (chat) => ({ kind: 'describe', chat }),
  set_title: (chat) => ({ kind: 'set_title', chat, title: 'x' }),
  set_description: (chat) => ({ kind: 'set_description', chat, description: 'x' }),
  set_photo: (chat) => ({ kind: 'set_photo', chat }),
  set_permissions: (chat) => ({ kind: 'set_permissions', chat, permissions: [] }),
  pin: (chat) => ({ kind: 'pin', chat, message: '1' }),
  unpin: (chat) => ({ kind: 'unpin', chat }),
  unpin_all: (chat) => ({ kind: 'unpin_all', chat }),
  leave: (chat) => ({ kind: 'leave', chat }),
  administrators: (chat) => ({ kind: 'administrators', chat }),
  count_members: (chat) => ({ kind: 'count_members', chat }),
  member: (chat) => ({ kind: 'member', chat, person: chat }),
  ban: (chat) => ({ kind: 'ban', chat, person: chat }),
  unban: (chat) => ({ kind: 'unban', chat, person: chat, onlyIfBanned: true }),
  restrict: (chat) => ({ kind: 'restrict', chat, person: chat, permissions: [] }),
  promote: (chat) => ({ kind: 'promote', chat, person: chat, rights: [] }),
  invite: (chat) => ({ kind: 'invite', chat, primary: false }),
  edit_invite: (chat) => ({ kind: 'edit_invite', chat, link: 'x' }),
  revoke_invite: (chat) => ({ kind: 'revoke_invite', chat, link: 'x' }),
  answer_join: (chat) => ({ kind: 'answer_join', chat, person: chat, approves: true }),
  remove_reaction: (chat) => ({ kind: 'remove_reaction', chat, message: '1', person: chat }),
  remove_all_reactions: (chat) => ({ kind: 'remove_all_reactions', chat, person: chat }),
  create_topic: (chat) => ({ kind: 'create_topic', chat, name: 'x' }),
  edit_topic: (chat) => ({ kind: 'edit_topic', chat, topic: '1', name: 'x' }),
  close_topic: (chat) => ({ kind: 'close_topic', chat, topic: '1' }),
  reopen_topic: (chat) => ({ kind: 'reopen_topic', chat, topic: '1' }),
  delete_topic: (chat) => ({ kind: 'delete_topic', chat, topic: '1' }),
  draft: (chat) => ({ kind: 'draft', chat, draft: 1, text: text('x') }),
  ...sandboxOperations,
  profile_audios: (chat) => ({ kind: 'profile_audios', person: chat, offset: 0, limit: 1 }),
  profile_photos: (chat) => ({ kind: 'profile_photos', person: chat, offset: 0, limit: 1 }),
  set_name: () => ({ kind: 'set_name', firstName: 'x' }),
  set_about: () => ({ kind: 'set_about', about: 'x' }),
  set_profile_photo: () => ({ kind: 'set_profile_photo' }),
  post_story: () => ({
    kind: 'post_story',
    media: media('photo'),
    caption: text('x'),
    activeSeconds: 86_400,
  }),
  pass: () => ({ kind: 'pass', verb: 'GET', method: 'getMe', query: '' }),
  delete_story: () => ({ kind: 'delete_story', story: 1 }),
  list_chats: () => ({ kind: 'list_chats', limit: 1 }),
  read_history: (chat) => ({ kind: 'read_history', chat, limit: 1 }),
  mark_read: (chat) => ({ kind: 'mark_read', chat }),
  resolve_phone: () => ({ kind: 'resolve_phone', phone: '+15550100' }),
}

const location = { kind: 'location' as const, latitude: 35.7, longitude: 51.4 }

/** A file of the kind stands for those that a harness yields. */
export const contents: readonly Content[] = [
  ...(
    ['photo', 'video', 'animation', 'audio', 'voice', 'video_note', 'document', 'sticker'] as const
  ).map(carrying),
  location,
  { ...location, venue: { title: 'x', address: 'y' } },
  { kind: 'contact', phone: '+15550100', firstName: 'Ada' },
  {
    kind: 'poll',
    poll: {
      question: text('Tea?'),
      options: [text('Yes'), text('No')].map((option) => ({ text: option, voters: 0 })),
      voters: 0,
      isClosed: false,
      isAnonymous: true,
      isQuiz: false,
      isMultiple: false,
    },
  },
  { kind: 'dice', emoji: '🎲', value: 0 },
]
