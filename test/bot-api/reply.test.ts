/** Quotes on networks that have none: the quoted words stand before the answer. */
import t from 'tap'
import type { Platform } from '../../actors/ports/platform.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { replyOf, withQuote } from '../../src/bot-api/sending.ts'

const network = (capabilities: object) => ({ name: 'Net', capabilities }) as unknown as Platform
const plain = network({ entities: [] })
const marking = network({ entities: ['bold', 'blockquote'] })
const quoting = network({ entities: [], quotes: true })

const quote = { text: 'tea?', entities: [{ type: 'bold', offset: 0, length: 3 }], position: 4 }
const yes = { text: 'yes', entities: [{ type: 'bold', offset: 0, length: 3 }] }
const said = (fault: () => unknown) => {
  try {
    fault()
  } catch (cause) {
    return cause instanceof RequestFailed && cause.failure.description
  }
}

t.test('a text and a caption carry it, and the marks move along', async (t) => {
  const entities = [
    { type: 'blockquote', offset: 0, length: 4 },
    { type: 'bold', offset: 0, length: 3 },
    { type: 'bold', offset: 5, length: 3 },
  ]
  const text = withQuote(marking, { quote, content: { kind: 'text', ...yes } })
  t.strictSame(text, { quote, content: { kind: 'text', text: 'tea?\nyes', entities } })
  const media = { kind: 'photo', file: { blob: 'b' } } as const
  t.match(withQuote(plain, { quote, content: { kind: 'media', media, caption: yes } }), {
    quote,
    content: { media, caption: { text: 'tea?\nyes', entities: entities.slice(1) } },
  })
  const none = { text: '', entities: [] }
  t.match(withQuote(plain, { quote, content: { kind: 'media', media, caption: none } }), {
    content: { caption: { text: 'tea?' } },
  })
})

t.test('what has no text refuses it, and a network with quotes gets it as it is', async (t) => {
  const dice = { quote, content: { kind: 'dice', emoji: '🎲', value: 0 } } as const
  t.equal(
    said(() => withQuote(plain, dice)),
    'parameter "quote" is not supported on Net: the network has no quotes',
  )
  t.equal(withQuote(quoting, dice), dice)
})

t.test('reply_parameters are read, formatted and checked', async (t) => {
  const read = (parameters: object, platform = quoting) =>
    replyOf(
      new Arguments([
        ['chat_id', '7'],
        ['reply_parameters', JSON.stringify(parameters)],
      ]),
      platform,
    )
  t.strictSame(
    read({ message_id: 3, quote: '<b>tea</b>?', quote_parse_mode: 'HTML', quote_position: 4 }),
    { replyTo: 3, replyOptional: false, quote },
  )
  t.strictSame(read({ message_id: 3, quote: '' }), { replyTo: 3, replyOptional: false })
  t.strictSame(read({ message_id: 3, chat_id: -9, allow_sending_without_reply: true }), {
    replyTo: 3,
    replyFrom: -9,
  })
  t.strictSame(read({ message_id: 3, chat_id: 7 }), { replyTo: 3, replyOptional: false })
  t.strictSame(read({ message_id: 3, chat_id: '' }), { replyTo: 3, replyOptional: false })
  for (const chat_id of [[-9], ['@durov'], {}, true, []]) {
    const wrong = 'field "chat_id" must be of type String'
    t.equal(
      said(() => read({ message_id: 3, chat_id })),
      wrong,
      `${JSON.stringify(chat_id)}`,
    )
  }
  t.equal(
    said(() => read({ message_id: 3, chat_id: -9 }, plain)),
    'replies to messages of other chats are not supported',
  )
  t.equal(
    said(() => read({ message_id: 3, quote: 'x', quote_position: 'far' })),
    'field "quote_position" must be a valid Number',
  )
})

t.test('a task or an option is answered where the network has that', async (t) => {
  const read = (on: Platform, part: object) =>
    replyOf(new Arguments([['reply_parameters', JSON.stringify({ message_id: 3, ...part })]]), on)
  const parted = network({ answersParts: true })
  t.match(read(parted, { checklist_task_id: 2 }), { replyTo: 3, answeredPart: { task: 2 } })
  t.match(read(parted, { poll_option_id: '1' }), { answeredPart: { option: 1 } })
  t.notOk(read(plain, { checklist_task_id: 0 }).answeredPart)
  t.equal(
    said(() => read(plain, { poll_option_id: '1' })),
    'parameter "poll_option_id" is not supported on Net: the network has no answers to tasks and options',
  )
})
