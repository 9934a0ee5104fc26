/** What sendPoll refuses of its parameters, one by one, in the reference's words. */
import t, { type Test } from 'tap'
import type { Platform } from '../../actors/ports/platform.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import type { Call } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'

const platform = {
  id: 'able',
  name: 'able',
  capabilities: { operations: ['send'], content: ['poll'], entities: [], limits: {} },
} as unknown as Platform

/** The poll that a network is asked to send, or the words of the refusal. */
async function asked(parameters: Readonly<Record<string, unknown>>): Promise<unknown> {
  const given = { chat_id: 7, question: 'Tea?', options: ['Black', 'Green'], ...parameters }
  const args = new Arguments(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
  let sent: unknown
  const call = {
    ...{ method: 'sendPoll', args, platform, uploads: new Map(), world: {} },
    perform: async (operation: { readonly content: { readonly poll: unknown } }) => {
      sent = operation.content.poll
      return {}
    },
  } as unknown as Call
  try {
    await methods.get('sendpoll')!.run(call)
    return sent
  } catch (cause) {
    const isRefused = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
    if (!isRefused) throw cause
    return cause.failure.description
  }
}

const refused =
  (cases: readonly (readonly [parameters: object, words: string])[]) => async (t: Test) => {
    for (const [parameters, words] of cases) {
      t.equal(await asked({ ...parameters }), words, JSON.stringify(parameters).slice(0, 100))
    }
  }

const wrongRight = 'wrong correct option identifier specified'
const quiz = (more: object) => ({ type: 'quiz', ...more })
const manyOf = (count: number, value: unknown) => Array.from({ length: count }, () => value)

t.test(
  'the question and the options',
  refused([
    [{ question: '' }, 'text must be non-empty'],
    // Parameters are parsed before any is looked into.
    [{ question: '', options: 'null' }, 'expected an Array of String as options'],
    [{ question: '', options: [7] }, 'can\'t parse poll option: Can\'t find field "text"'],
    [{ question: '', options: [] }, 'text must be non-empty'],
    [{ question: 'x'.repeat(301) }, 'poll question length must not exceed 300'],
    [{ options: undefined }, "can't parse options JSON object"],
    [{ options: {} }, 'expected an Array of String as options'],
    [{ options: [] }, 'poll must have at least one answer option'],
    [{ options: manyOf(13, 'x') }, "poll can't have more than 12 answer options"],
    [{ options: ['x', ''] }, 'poll option text must be non-empty'],
    [{ options: ['x'.repeat(101)] }, 'poll option length must not exceed 100'],
    [{ options: [{ text: 'x'.repeat(101) }] }, 'poll option length must not exceed 100'],
    [{ options: [7] }, 'can\'t parse poll option: Can\'t find field "text"'],
    [{ options: [null] }, 'can\'t parse poll option: Can\'t find field "text"'],
    [{ options: [{ media: {} }] }, 'can\'t parse poll option: Can\'t find field "text"'],
  ]),
)

t.test(
  'the type, and what is right in a quiz',
  refused([
    [{ type: 'survey' }, 'unsupported poll type specified'],
    [quiz({}), wrongRight],
    [quiz({ correct_option_ids: [] }), wrongRight],
    [quiz({ correct_option_ids: [2] }), wrongRight],
    [quiz({ correct_option_ids: [-1] }), wrongRight],
    [quiz({ correct_option_ids: [0, 0.5] }), wrongRight],
    [quiz({ correct_option_ids: ['0'] }), 'correct option identifier must be of type Number'],
    [quiz({ correct_option_id: 2 }), wrongRight],
    [
      quiz({ correct_option_ids: [0], explanation: 'x'.repeat(201) }),
      'poll explanation length must not exceed 200',
    ],
  ]),
)

t.test(
  'who may vote, and how',
  refused([
    [{ allow_adding_options: true }, "options can't be added to anonymous polls"],
    [
      quiz({ allow_adding_options: true, is_anonymous: false, correct_option_ids: [0] }),
      "options can't be added to quizzes",
    ],
    [{ country_codes: 'IR' }, "can't parse country_codes JSON object"],
    [{ country_codes: manyOf(13, 'IR') }, 'too many country codes specified'],
    [{ country_codes: ['iran'] }, 'invalid country code specified'],
    [{ country_codes: ['ir'] }, 'invalid country code specified'],
    [{ country_codes: [7] }, 'invalid country code specified'],
    [{ country_codes: [['IR']] }, 'invalid country code specified'],
  ]),
)

const parse = (words: string) => `can't parse InputPollMedia: ${words}`
const noObject = parse('expected an Object')
const noType = parse('can\'t find field "type"')
const notHere = (type: string) => parse(`type "${type}" can't be used here`)
const inOption = (media: unknown) => ({ options: [{ text: 'x', media }] })
const place = { latitude: 1, longitude: 2 }
const solved = (explanation_media: unknown) => quiz({ correct_option_ids: [0], explanation_media })

t.test(
  'the media of its parts',
  refused([
    [{ media: 7 }, noObject],
    [{ media: [] }, noObject],
    [{ media: {} }, noType],
    [{ media: { type: 'voice', media: 'x' } }, notHere('voice')],
    [{ media: { type: 'sticker', media: 'x' } }, notHere('sticker')],
    [{ media: { type: 'link', url: 'https://a.example' } }, notHere('link')],
    [{ media: { type: 'photo' } }, parse('media not found')],
    [{ media: { type: 'location', latitude: 91, longitude: 0 } }, 'wrong location specified'],
    [{ media: { type: 'venue', ...place, address: 'x' } }, 'parameter "title" is required'],
    [solved([]), noObject],
    [solved({ type: 'sticker', media: 'x' }), notHere('sticker')],
    [inOption(7), noObject],
    [inOption({}), noType],
    [inOption({ type: 'document', media: 'x' }), notHere('document')],
    [inOption({ type: 'audio', media: 'x' }), notHere('audio')],
    [inOption({ type: 'link' }), 'WEBPAGE_URL_INVALID'],
    [inOption({ type: 'link', url: 'ftp://a.example' }), 'WEBPAGE_URL_INVALID'],
    [inOption({ type: 'link', url: 'https://' }), 'WEBPAGE_URL_INVALID'],
  ]),
)

t.test('a time is brought within its bounds', async (t) => {
  t.match(await asked({ open_period: 3_000_000 }), { openSeconds: 2_628_000 })
  t.match(await asked({ open_period: -1 }), { openSeconds: undefined, closesAt: undefined })
  t.match(await asked({ open_period: 5, close_date: 9 }), { openSeconds: 5, closesAt: undefined })
  t.match(await asked({ close_date: 9 }), { closesAt: 9 })
})

t.test('what is at a border is sent', async (t) => {
  const poll = {
    ...{ question: 'x'.repeat(300), options: manyOf(12, 'x'.repeat(100)) },
    ...{ type: 'quiz', correct_option_ids: [0, 11], explanation: 'x'.repeat(200) },
    country_codes: manyOf(12, 'IR'),
  }
  t.match(await asked(poll), { right: [0, 11], countries: ['IR'], isQuiz: true, isAnonymous: true })
  t.match(await asked({ options: ['x'], ...{ is_anonymous: false, allow_adding_options: true } }), {
    isOpenToOptions: true,
  })
  t.match(await asked(inOption({ type: 'link', url: 'https://a.example' })), {
    options: [{ media: { kind: 'link', url: 'https://a.example' } }],
  })
  t.match(await asked({ explanation_media: [] }), { isQuiz: false }, 'of no quiz it is not read')
})
