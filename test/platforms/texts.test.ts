/** Texts of every network: what is written with its formatting is read back, in the same places, whatever the letters. */
import assert from 'node:assert/strict'
import t from 'tap'
import type { Text, TextEntity } from '../../machines/model/text.ts'
import { plainEntitiesOf, textOf } from '../../src/platforms/telegram/entities.ts'
import { readStyled } from '../../src/platforms/xmpp/styling/read.ts'
import { writeStyled } from '../../src/platforms/xmpp/styling/write.ts'
import fc from '../support/fast-check.ts'

/** Letters of one UTF-16 unit and of two, and some that join others. None is a mark of any network. */
const word = fc.stringMatching(/^[a-zسلامé]{1,5}$/)
const emoji = fc.constantFrom('👋', '👨‍👩‍👧', '🇮🇷', 'é')
const words = fc.array(fc.oneof(word, emoji), { minLength: 1, maxLength: 12 })

/** A text whose words are formatted, one formatting each or none: ranges beside one another. */
const formatted = (types: readonly string[]): fc.Arbitrary<Text> =>
  words.chain((parts) =>
    fc
      .array(fc.option(fc.constantFrom(...types)), {
        minLength: parts.length,
        maxLength: parts.length,
      })
      .map((chosen) => {
        const entities: TextEntity[] = []
        let text = ''
        for (const [index, part] of parts.entries()) {
          if (index > 0) text += ' '
          const type = chosen[index]
          if (type) entities.push({ type, offset: text.length, length: part.length })
          text += part
        }
        return { text, entities }
      }),
  )

const holds = (types: readonly string[], roundTrip: (text: Text) => Text) => () =>
  fc.assert(fc.property(formatted(types), (text) => assert.deepEqual({ ...roundTrip(text) }, text)))

const SPANS = ['bold', 'italic', 'strikethrough', 'code']
const RICH = [...SPANS, 'underline', 'spoiler', 'blockquote', 'expandable_blockquote', 'pre']

t.test('XMPP styling comes back', async (t) => {
  t.doesNotThrow(holds(SPANS, (text) => readStyled(writeStyled(text))))
})

t.test('the formatting of Telegram accounts comes back', async (t) => {
  t.doesNotThrow(holds(RICH, (text) => textOf(text.text, plainEntitiesOf(text))))
})
