/** Values that have the reference's shape, and values that depart from it in one place. */
import t from 'tap'
import { departuresOfResult, departuresOfUpdate } from './departures.ts'
import { readShapes, storedShapes } from './shapes.ts'

const shapes = storedShapes()

const chat = { id: 7, type: 'private', first_name: 'Ada' }
const from = { id: 7, is_bot: false, first_name: 'Ada' }
const message = { message_id: 1, date: 1, chat, from, text: 'hi' }
const update = { update_id: 1, message }

t.test('the committed table is that of the installed package', async (t) => {
  t.strictSame(readShapes('node_modules/@gramio/types'), shapes)
})

t.test('every type that a shape names is there', async (t) => {
  const known = new Set([...shapes.objects.keys(), ...shapes.unions.keys()])
  const text = [...shapes.objects.values(), ...shapes.unions.values(), ...shapes.results.values()]
  const types = text.flatMap(
    (shape) => shape.replaceAll(/"[^"]*"|\w+\??:/g, ' ').match(/\w+/g) ?? [],
  )
  const plain = new Set(['string', 'number', 'boolean', 'true'])
  t.strictSame(
    [...new Set(types)].filter((type) => !known.has(type) && !plain.has(type)),
    [],
  )
})

t.test('a value of the reference has no departures', async (t) => {
  t.strictSame(departuresOfUpdate(update), [])
  t.strictSame(departuresOfResult('SENDMESSAGE', message), [])
  t.strictSame(departuresOfResult('editMessageText', true), [], 'a message or true')
  t.strictSame(departuresOfResult('getMyName', { name: '' }), [])
  const member = { status: 'member', user: from }
  t.strictSame(departuresOfResult('getChatAdministrators', [member]), [])
  const text = ['x', { type: 'bold', text: ['y', { type: 'italic', text: 'z' }] }]
  const rich_message = { blocks: [{ type: 'paragraph', text }] }
  t.strictSame(departuresOfResult('sendRichMessage', { ...message, rich_message }), [])
})

t.test('a departure is named with its path', async (t) => {
  const cases: readonly (readonly [object, string])[] = [
    [{ ...message, colour: 'red' }, 'sendMessage.colour is not known in Message'],
    [{ ...message, date: '1' }, 'sendMessage.date is "1", not integer'],
    [{ ...message, date: 1.5 }, 'sendMessage.date is 1.5, not integer'],
    [{ ...message, text: null }, 'sendMessage.text is null, not string'],
    [
      { ...message, chat: { ...chat, type: 'room' } },
      'sendMessage.chat.type is "room", not ChatType',
    ],
    [
      { ...message, from: { id: 7, is_bot: false } },
      'sendMessage.from.first_name is missing in User',
    ],
    [
      {
        ...message,
        entities: [
          { type: 'bold', offset: 0, length: 1 },
          { type: 'bold', offset: 0 },
        ],
      },
      'sendMessage.entities[1].length is missing in MessageEntity',
    ],
    [
      { ...message, forward_origin: { type: 'user', date: 1, sender_user: from, chat } },
      'sendMessage.forward_origin.chat is not known in MessageOriginUser',
    ],
  ]
  for (const [value, line] of cases) t.strictSame(departuresOfResult('sendMessage', value), [line])
  t.strictSame(departuresOfResult('sendMessage', true), ['sendMessage is true, not Message'])
  t.strictSame(departuresOfResult('getUpdates', {}), ['getUpdates is {}, not Update[]'])
  t.match(departuresOfResult('setMyName', 1), [/^setMyName is 1, not true/])
})

t.test('what we add is known, and nothing else', async (t) => {
  const receipt = { chat, user: from, message_id: 1, date: 1 }
  t.strictSame(departuresOfUpdate({ update_id: 1, message_read: receipt }), [])
  t.strictSame(departuresOfUpdate({ update_id: 1, message_seen: receipt }), [
    'update.message_seen is not known in Update',
  ])
  t.strictSame(departuresOfResult('getChats', { chats: [{ chat, last_message: message }] }), [])
  t.strictSame(departuresOfResult('noMethod', 1), [])
})
