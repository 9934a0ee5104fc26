/** The updates of an answer, however a server writes them: each keeps its bytes, but for the id. */
import t from 'tap'
import {
  ownUpdate,
  type ReceivedUpdate,
  updatesIn,
} from '../../src/platforms/upstream-bot/update.ts'
import { updateJson } from '../../src/updates/row.ts'
import fc from '../support/fast-check.ts'

const reader = { self: '1', now: 0 }
const read = (body: string) => updatesIn(body, JSON.parse(body), reader)

/** The payloads as updates with the id 7. */
const shown = (body: string) =>
  read(body).map(({ happening }) =>
    happening?.kind === 'update' ? updateJson({ updateId: 7, payload: happening.payload }) : '',
  )

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
/** Strings that look like the marks of JSON, too. */
const odd = fc.stringMatching(/^["\\{}[\],:update_id result/]{0,12}$/)
const value = fc.oneof(fc.jsonValue(), odd, fc.array(odd), fc.dictionary(odd, odd))
const kind = fc.stringMatching(/^[a-z]{3,8}$/).filter((name) => name !== 'update_id')

const update = fc
  .tuple(fc.nat(), kind, value, fc.array(space, { minLength: 7, maxLength: 7 }), fc.nat(3))
  .map(([id, name, about, [a, b, c, d, e, f, g], newer]) => {
    const more = newer === 0 ? `,"newer":{"update_id":${id}}` : ''
    const rest = `"${name}"${e}:${f}${JSON.stringify(about)}${more}${g}}`
    const before = `{${a}"update_id"${b}:${c}`
    return { id, text: `${before}${id}${d},${rest}`, expected: `${before}7${d},${rest}` }
  })

const wrappers: readonly ((result: string, blank: string) => string)[] = [
  (result, blank) =>
    `${blank}{${blank}"ok"${blank}:true,"result":${blank}${result}${blank}}${blank}`,
  (result, blank) => `{"result":${result},${blank}"ok":true}`,
  (result, blank) => `{"ok":true,"result":[{"update_id":1}],${blank}"result":${result}}`,
  (result, blank) => `{"ok":true,"result":${result},${blank}"more":{"result":[5]}}`,
  (result, blank) => `{"ok":true,${blank}"about":"\\"result\\":[","result":${result}}`,
]

t.test('whatever stands in them and around them', async (t) => {
  const updates = fc.array(update, { maxLength: 4 })
  const wrapper = fc.constantFrom(...wrappers)
  fc.assert(
    fc.property(updates, wrapper, space, space, (updates, wrap, between, blank) => {
      const result = `[${blank}${updates.map(({ text }) => text).join(`${between},${between}`)}${blank}]`
      const body = wrap(result, blank)
      t.strictSame(
        read(body).map(({ id }) => id),
        updates.map(({ id }) => id),
      )
      t.strictSame(
        shown(body),
        updates.map(({ expected }) => expected),
      )
    }),
  )
})

t.test(
  'an id behind the rest moves to the front, and one that stands twice counts once',
  async (t) => {
    const last = '{"ok":true,"result":[{"message":{"n":1.50},"update_id":5}]}'
    t.strictSame(shown(last), ['{"update_id":7,\n"message":{"n":1.50}}'])
    const twice = [
      '{"update_id":5,\n"message":{"n":1},"update_id":6}',
      '{"update_id":5, "update_id":6,"message":{"n":1}}',
      '{ "update_id":5,"message":{"n":1}, "update_id" : 6}',
      '{"message":{"n":1},"update_id":5,"update_id":6}',
      '{"update_id":5,\n"message":{"n":1},"updat\\u0065\\u005Fid":6}',
    ]
    const body = `{"ok":true,"result":[${twice}]}`
    t.strictSame(
      read(body).map(({ id }) => id),
      [6, 6, 6, 6, 6],
    )
    t.strictSame(shown(body), Array(5).fill('{"update_id":7,\n"message":{"n":1}}'))
    const bare = '{"ok":true,"result":[{"update_id":5},{"update_id":6 }]}'
    t.strictSame(read(bare), [{ id: 5 }, { id: 6 }])
    t.strictSame(read('{"ok":true,"result":[ ]}'), [])
  },
)

t.test('half a character is told as none, and all others stay as they were', async (t) => {
  const told = (text: string) => shown(`{"ok":true,"result":[{"update_id":7,"a":"${text}"}]}`)
  const cases = {
    '\\ud83d': '\\ufffd',
    'x\\uDE00\\uD83D.': 'x\\ufffd\\ufffd.',
    '\\ud83d\\ud83d\\ude00': '\\ufffd\\ud83d\\ude00',
    '\\\\ud83d': '\\\\ud83d',
    '\\\\\\ud83d\\"\\ude00': '\\\\\\ufffd\\"\\ufffd',
    '\\\\ud83d\\ude00': '\\\\ud83d\\ufffd',
    '\\n\\u0000\\ue000😀': '\\n\\u0000\\ue000😀',
  }
  for (const [text, expected] of Object.entries(cases)) {
    t.strictSame(told(text), [`{"update_id":7,"a":"${expected}"}`], text)
  }
  const sent = '{"message_id":1,"chat":{},"reply_to_message":{"text":"\\ud83d"}}'
  const facts = { sourceKey: 'own:1', now: 0, isChange: false }
  const payload = `"message":${sent.replace('\\ud83d', '\\ufffd')}`
  t.match(ownUpdate(sent, JSON.parse(sent), facts), { payload }, 'what a message answers, too')
})

t.test('whatever a server escapes, only halves change', async (t) => {
  const halves = fc.constantFrom('\ud83d', '\ude00', '\\', '"', '\n', 'ud83d', 'س', 'u')
  fc.assert(
    fc.property(fc.array(halves), (some) => {
      const text = some.join('')
      const escaped = JSON.stringify(text).replace(/[^ -~]/g, (unit) => {
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
      })
      const [told = ''] = shown(`{"ok":true,"result":[{"update_id":7,"a":${escaped}}]}`)
      t.equal(JSON.parse(told).a, text.toWellFormed())
    }),
  )
})

t.test('an update that is nested deeper than bots can read costs nobody the others', async (t) => {
  const nested = (levels: number) =>
    `{"update_id":7,"a":${'{"a":['.repeat(levels)}${']}'.repeat(levels)}}`
  const [deep, endless] = [nested(249), nested(10_000)]
  t.strictSame(shown(`{"ok":true,"result":[${endless},${deep},${nested(250)}]}`), ['', deep, ''])
  t.strictSame(read(`{"ok":true,"result":[${endless}]}`), [{ id: 7 }])
})

t.test('names of the language itself and numbers beyond all numbers stay text', async (t) => {
  const about =
    '{"__proto__":{"chat":{"id":5},"date":6},"date":1e400,"n":1e999,"m":9007199254740993}'
  const update = `{"update_id":7,"message":${about}}`
  t.strictSame(shown(`{"ok":true,"result":[${update}]}`), [update])
  const [{ happening }] = read(`{"ok":true,"result":[${update}]}`) as [ReceivedUpdate]
  t.match(happening, { sourceKey: /^7$/, at: 0, chatId: undefined })
  t.strictSame(read('{"ok":true,"result":[{"update_id":7,"__proto__":{"a":1}}]}'), [{ id: 7 }])
})

t.test('a writer who is no number costs nobody the other updates', async (t) => {
  const odd = '{"update_id":7,"message":{"from":{"id":{"toString":1}}}}'
  const next = '{"update_id":7,"message":{"from":{"id":1}}}'
  t.strictSame(shown(`{"ok":true,"result":[${odd},${next}]}`), [odd, next])
  const [one, other] = read(`{"ok":true,"result":[${odd},${next}]}`)
  t.match(
    [one, other],
    [{ happening: { direction: 'incoming' } }, { happening: { direction: 'own' } }],
  )
})
