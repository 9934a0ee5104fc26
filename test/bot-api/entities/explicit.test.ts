/** How the `entities` parameter is read, and how a faulty one is answered. */
import t from 'tap'
import { formatText } from '../../../src/bot-api/text.ts'
import { refusal, type Shown, show } from './outcome.ts'

const format = (text: string, entities: unknown) =>
  formatText(text, {
    entities: typeof entities === 'string' ? entities : JSON.stringify(entities),
    limit: 4096,
    kind: 'text',
  })
const at = (offset: number, length: number, rest: object) => [{ offset, length, ...rest }]

const accepted: [given: unknown, entities: Shown[]][] = [
  [at(0, 2, { type: 'bold' }), [['bold', 'ab']]],
  [at(0, 2, { type: 'pre', language: 'c' }), [['pre', 'ab', { language: 'c' }]]],
  [at(0, 2, { type: 'pre', language: null }), [['pre', 'ab']]],
  ['[{"type":"bold","offset":"1","length":"1"}]', [['bold', 'b']]],
  [at(0, 2, { type: 'text_link', url: 'a.b' }), [['text_link', 'ab', { url: 'http://a.b/' }]]],
  [
    at(0, 2, { type: 'text_mention', user: { id: 42, is_bot: true, first_name: 'F' } }),
    [['text_mention', 'ab', { user: { id: 42, is_bot: false, first_name: '' } }]],
  ],
  [
    '[{"type":"custom_emoji","offset":0,"length":2,"custom_emoji_id":5368324170671202287}]',
    [['custom_emoji', 'ab', { custom_emoji_id: '5368324170671202287' }]],
  ],
  [
    at(0, 2, { type: 'date_time', unix_time: 7, date_time_format: 'Td' }),
    [['date_time', 'ab', { unix_time: 7, date_time_format: 'dT' }]],
  ],
  [at(0, 2, { type: 'url' }), []],
  [at(0, 2, { type: 'bank_card_number' }), []],
  [at(0, 0, { type: 'bold' }), []],
  ['', []],
  ['null', []],
  ['[', []],
  ['{}', []],
  ['bold', []],
  ['"bold"', []],
  [7, []],
]
for (const [given, entities] of accepted) {
  t.test(`entities ${JSON.stringify(given)} are read`, async (t) => {
    t.strictSame(show(format('ab', given)), entities)
  })
}

const cannot = "can't parse MessageEntity:"
const refused: [given: unknown, description: string][] = [
  [[1], `${cannot} expected an Object`],
  [[{}], `${cannot} Can't find field "offset"`],
  [[{ offset: 0 }], `${cannot} Can't find field "length"`],
  [at(0, 1, {}), `${cannot} Can't find field "type"`],
  [at(0, 1, { type: '' }), `${cannot} Type is not specified`],
  [at(0, 1, { type: 'wavy' }), `${cannot} Unsupported type specified`],
  [at(0, 1, { type: {} }), `${cannot} Field "type" must be of type String`],
  [[{ offset: true }], `${cannot} Field "offset" must be a Number`],
  [[{ offset: 1.5 }], `${cannot} Field "offset" must be a valid Number`],
  [at(0, 2 ** 31, { type: 'bold' }), `${cannot} Field "length" must be a valid Number`],
  [at(0, 1, { type: 'text_link' }), `${cannot} Can't find field "url"`],
  [at(0, 1, { type: 'text_mention', user: 4 }), `${cannot} Field "user" must be of type Object`],
  [at(0, 1, { type: 'text_mention', user: {} }), `${cannot} Can't find field "id"`],
  [at(0, 1, { type: 'custom_emoji' }), `${cannot} Can't find field "custom_emoji_id"`],
  [
    at(0, 1, { type: 'date_time', unix_time: 1, date_time_format: 'x' }),
    `${cannot} Invalid date-time format specified`,
  ],
  [
    at(0, 1, { type: 'text_link', url: 'ftp://a.b' }),
    "entity URL 'ftp://a.b' is invalid: Unsupported URL protocol",
  ],
  [at(-1, 1, { type: 'bold' }), 'receive an entity with incorrect offset -1'],
  [at(0, -1, { type: 'bold' }), 'receive an entity with incorrect length -1'],
  [at(1_000_001, 1, { type: 'bold' }), 'receive an entity with incorrect offset 1000001'],
  [at(9, 1, { type: 'bold' }), 'entity begins after the end of the text at UTF-16 offset 9'],
  [
    at(1, 9, { type: 'bold' }),
    'entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 10',
  ],
  [at(3, 1, { type: 'bold' }), 'entity begins in a middle of a UTF-16 symbol at byte offset 7'],
  [
    at(0, 3, { type: 'bold' }),
    'entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 7',
  ],
]
for (const [given, description] of refused) {
  t.test(`entities ${JSON.stringify(given)} are refused: ${description}`, async (t) => {
    t.equal(
      refusal(() => format('aé👍', given)),
      description,
    )
  })
}
