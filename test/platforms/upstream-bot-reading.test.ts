/** The reference's updates as what happened: every kind, in its new and its old form. */
import t from 'tap'
import { happeningOf } from '../../src/platforms/upstream-bot/reading/update.ts'

const reader = { self: '123456', now: 1_800_000_000 }
const ada = { id: 42, is_bot: false, first_name: 'Ada', language_code: 'fa' }
const self = { id: 123456, is_bot: true, first_name: 'Bot' }
const group = { id: -1001234567890, type: 'supergroup', title: 'Group' }
const date = 1_700_000_000
const read = (about: object) => happeningOf({ update_id: 7, ...about }, reader)
const message = (carried: object) => ({ message_id: 5, date, chat: group, from: ada, ...carried })
const file = (more: object = {}) => ({ file_id: 'F', file_unique_id: 'U', file_size: 9, ...more })

t.test('messages carry every kind of content', async (t) => {
  const location = { latitude: 35.7, longitude: 51.4 }
  const cases = [
    [
      { text: 'x', entities: [{ type: 'bold', offset: 0, length: 1 }] },
      { kind: 'text', text: 'x', entities: [{ type: 'bold' }] },
    ],
    [
      { text: 'x', entities: [{ type: 'date_time', offset: 0, length: 1, unix_time: 5 }] },
      { kind: 'text', text: 'x', entities: [{ type: 'date_time', unixTime: 5 }] },
    ],
    [
      {
        photo: [file({ width: 800, height: 600 }), file({ file_id: 'S', width: 80, height: 60 })],
        caption: 'c',
        has_media_spoiler: true,
      },
      {
        kind: 'media',
        caption: { text: 'c' },
        spoiler: true,
        media: { kind: 'photo', file: { native: 'F' }, sizes: [{ file: { native: 'S' } }] },
      },
    ],
    [{ animation: file(), document: file() }, { media: { kind: 'animation' } }],
    [
      { video: file({ duration: 3, thumb: file({ file_id: 'T' }) }) },
      { media: { kind: 'video', durationSeconds: 3, thumbnail: { file: { native: 'T' } } } },
    ],
    [
      { video_note: file({ length: 240, duration: 2 }) },
      { media: { kind: 'video_note', width: 240, height: 240 } },
    ],
    [
      { sticker: file({ is_video: true, emoji: '🙂' }) },
      { media: { kind: 'sticker', mime: 'video/webm', emoji: '🙂' } },
    ],
    [
      { audio: file({ performer: 'P', title: 'T', mime_type: 'audio/mpeg' }) },
      { media: { kind: 'audio', performer: 'P', mime: 'audio/mpeg' } },
    ],
    [
      { location, venue: { location, title: 'V', address: 'A' } },
      { kind: 'location', venue: { title: 'V' } },
    ],
    [{ location: { ...location, live_period: 60 } }, { kind: 'location', liveSeconds: 60 }],
    [
      { contact: { phone_number: '+1', first_name: 'B', user_id: 9 } },
      { kind: 'contact', person: '9' },
    ],
    [
      {
        poll: {
          id: 'P',
          question: 'Q',
          options: [{ text: 'a', voter_count: 2 }],
          type: 'quiz',
          correct_option_id: 0,
        },
      },
      { kind: 'poll', poll: { isQuiz: true, right: [0] } },
    ],
    [{ dice: { emoji: '🎲', value: 6 } }, { kind: 'dice', value: 6 }],
    [
      { new_chat_members: [ada, self] },
      { kind: 'service', fact: 'joined', people: [{ native: '42' }, { isBot: true }] },
    ],
    [{ left_chat_member: ada }, { fact: 'left' }],
    [{ supergroup_chat_created: true }, { fact: 'created', title: 'Group' }],
    [{ pinned_message: { message_id: 3, date: 0, chat: group } }, { fact: 'pinned', message: '3' }],
    [
      { forum_topic_created: { name: 'Tea', icon_color: 7, icon_custom_emoji_id: '8' } },
      { kind: 'service', fact: 'topic_created', name: 'Tea', iconColor: 7, icon: '8' },
    ],
    [{ forum_topic_edited: { icon_custom_emoji_id: '' } }, { fact: 'topic_edited', icon: '' }],
    [{ forum_topic_closed: {} }, { fact: 'topic_closed' }],
    [{ forum_topic_reopened: {} }, { fact: 'topic_reopened' }],
    [
      { is_topic_message: true, message_thread_id: 3, story: {} },
      { kind: 'unsupported', label: 'story' },
    ],
  ] as const
  for (const [carried, content] of cases) {
    const happening = read({ message: message(carried) })
    t.match(happening, {
      kind: 'message',
      direction: 'incoming',
      at: date,
      message: { native: '5', content },
    })
  }
})

t.test('a message stands in a topic where the topic is one', async (t) => {
  const root = message({ message_id: 3, forum_topic_created: { name: 'Tea', icon_color: 7 } })
  const other = message({ message_id: 4, text: 'hot' })
  const inTopic = { is_topic_message: true, message_thread_id: 3, text: 'x' }
  const told = (carried: object) => {
    const happening = read({ message: message(carried) })
    return happening?.kind === 'message' ? happening.message : undefined
  }
  t.match(told({ ...inTopic, chat: { ...group, is_forum: true } }), { chat: { isForum: true } })
  t.same(told(inTopic)?.topic, { native: '3' })
  const first = told({ ...inTopic, reply_to_message: root })
  t.match(first?.topic, { native: '3', message: { content: { fact: 'topic_created' } } })
  t.equal(first?.replyTo, undefined)
  const answer = told({ ...inTopic, reply_to_message: other })
  t.match(answer, { topic: { native: '3', message: undefined }, replyTo: { native: '4' } })
  const discussed = told({ message_thread_id: 3, text: 'x', reply_to_message: other })
  t.match(discussed, { topic: undefined, replyTo: { native: '4' } })
  const between = { id: 42, type: 'private', first_name: 'Ada' }
  t.equal(told({ ...inTopic, chat: between })?.topic, undefined)
})

t.test('the other kinds of updates are told', async (t) => {
  const member = (status: string, more: object = {}) => ({ status, user: self, ...more })
  const invite = { invite_link: 'https://t.me/+x', creator: ada, is_primary: false }
  const cases = [
    [
      { edited_message: message({ text: 'y', edit_date: date + 5 }) },
      { kind: 'edited', at: date + 5, sourceKey: `7@${date + 5}` },
    ],
    [
      {
        channel_post: {
          ...message({ text: 'p' }),
          chat: { ...group, type: 'channel' },
          author_signature: 'A',
        },
      },
      { kind: 'message', message: { from: undefined, signature: 'A' } },
    ],
    [{ message: { ...message({ text: 'own' }), from: self } }, { direction: 'own' }],
    [
      {
        callback_query: {
          id: '9',
          from: ada,
          data: 'd',
          message: { message_id: 1, date: 0, chat: group },
        },
      },
      { kind: 'callback', callback: '9', data: 'd', at: reader.now },
    ],
    [
      {
        message_reaction: {
          chat: group,
          message_id: 5,
          date,
          user: ada,
          old_reaction: [],
          new_reaction: [{ type: 'emoji', emoji: '👍' }, { type: 'paid' }],
        },
      },
      { kind: 'reaction', target: '5', after: [{ emoji: '👍' }] },
    ],
    [
      {
        message_reaction_count: {
          chat: group,
          message_id: 5,
          date,
          reactions: [{ type: { type: 'emoji', emoji: '👍' }, total_count: 3 }],
        },
      },
      { kind: 'reaction_count', counts: [{ count: 3 }] },
    ],
    [
      { poll_answer: { poll_id: 'P', user: ada, option_ids: [1] } },
      { kind: 'poll_answer', options: [1] },
    ],
    [
      {
        my_chat_member: {
          chat: group,
          from: ada,
          date,
          old_chat_member: member('left'),
          new_chat_member: member('administrator', { can_pin_messages: true }),
        },
      },
      {
        kind: 'member',
        isSelf: true,
        after: { status: 'administrator', rights: ['pin_messages'] },
      },
    ],
    [
      {
        chat_member: {
          chat: group,
          from: ada,
          date,
          old_chat_member: member('member'),
          new_chat_member: member('kicked', { until_date: 0 }),
          invite_link: invite,
        },
      },
      {
        isSelf: false,
        after: { status: 'kicked', until: undefined },
        invite: { link: invite.invite_link },
      },
    ],
    [
      { chat_join_request: { chat: group, from: ada, user_chat_id: 42, date, bio: 'b' } },
      { kind: 'join_request', bio: 'b', person: { native: '42' } },
    ],
    [
      { deleted_messages: { chat: group, message_ids: [1, 2], date } },
      { kind: 'deleted', chat: `${group.id}`, messages: ['1', '2'] },
    ],
  ] as const
  for (const [about, expected] of cases) t.match(read(about), expected, Object.keys(about).join())
  for (const unknown of [{ inline_query: {} }, {}, { callback_query: { id: '1', from: ada } }]) {
    t.equal(read(unknown), undefined)
  }
})
