/** What is said of a test message that was not sent, and what to do about it. */
import t from 'tap'
import type { Failure } from '../../machines/model/protocol.ts'
import { sendingRefusal } from '../../src/credentials/reasons.ts'
import { inWords } from '../../src/diagnosis/words.ts'

const cases: readonly (readonly [Failure, code: string, detail: string, remedy: RegExp])[] = [
  [
    { code: 'timeout', description: 'it took too long', certain: false },
    'outcome_unknown',
    'it took too long',
    /before you send again/,
  ],
  [{ code: 'timeout', description: 'no answer in time' }, 'timeout', 'no answer in time', /^Wait/],
  [
    { code: 'rate_limited', description: '', retryAfterSeconds: 120 },
    'flood_wait',
    'The platform takes no messages for 120 seconds',
    /send less/,
  ],
  [
    { code: 'unavailable', description: 'the credential is reconnecting' },
    'unavailable',
    'the credential is reconnecting',
    /^Wait/,
  ],
  [
    { code: 'forbidden', description: 'the credential is logged out; link it again' },
    'forbidden',
    'the credential is logged out; link it again',
    /is linked/,
  ],
  [
    { code: 'bad_request', description: 'chat not found', reason: 'chat_not_found' },
    'chat_not_found',
    'chat not found',
    /chat exists/,
  ],
  [{ code: 'not_found', description: '' }, 'not_found', 'not_found', /chat exists/],
]

t.test('every refusal says what was seen and what helps', async (t) => {
  for (const [failure, code, detail, remedy] of cases) {
    const refusal = sendingRefusal(failure)
    t.equal(refusal.code, code, detail)
    t.match(inWords(refusal.remedy), remedy, detail)
    t.equal(inWords(refusal.seen), detail)
  }
})
