/** Whatever another server writes: it is read, or refused as malformed, and never anything else. */

import t from 'tap'
import { Malformed } from '../../src/platforms/upstream-bot/reading/fields.ts'
import { happeningOf } from '../../src/platforms/upstream-bot/reading/update.ts'
import fc from '../support/fast-check.ts'

const reader = { self: '123456', now: 1_800_000_000 }
const proper = {
  message_id: 5,
  date: 1_700_000_000,
  chat: { id: 42, type: 'private', first_name: 'Ada' },
  from: { id: 42, is_bot: false, first_name: 'Ada' },
  text: 'x',
}

t.test('whatever comes, it is read or refused, and ids are numbers', async () => {
  const kinds = [
    'message',
    'edited_message',
    'callback_query',
    'poll',
    'my_chat_member',
    'deleted_messages',
  ]
  const keys = [
    'message_id',
    'date',
    'chat',
    'from',
    'text',
    'entities',
    'photo',
    'id',
    'type',
    'poll',
    'reply_to_message',
    'forward_origin',
    'message',
    'data',
    'options',
  ]
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(42, -1001234567890, 1.5, Number.NaN, 'x', '', 'private', 'user', true, null),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie('any')),
    ),
  })).any
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      value,
      fc.dictionary(fc.constantFrom(...keys), value),
      (kind, any, more) => {
        for (const about of [any, { ...proper, ...more }]) {
          try {
            const happening = happeningOf({ update_id: 1, [kind]: about }, reader)
            if (happening && 'message' in happening && !/^-?\d+$/.test(happening.message.native))
              return false
          } catch (cause) {
            if (!(cause instanceof Malformed)) throw cause
          }
        }
        return true
      },
    ),
    { numRuns: 2_000 },
  )
})
