/** What is known of a request that Telegram has failed at. */
import { tl } from '@mtcute/node'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { requestFailure } from '../../src/platforms/telegram/failures.ts'
import type { Context } from '../../src/platforms/telegram/operations/context.ts'
import { repeated } from '../../src/platforms/telegram/operations/repeated.ts'
import { refused } from '../actors/refused.ts'

const { signal } = new AbortController()

t.test('a failure within the network may come after the work was done', (t) => {
  for (const [code, text] of [
    [500, 'RPC_CALL_FAIL'],
    [-503, 'Timeout'],
    [500, 'RANDOM_ID_DUPLICATE'],
  ] as const) {
    const cause = new tl.RpcError(code, text)
    t.same(requestFailure(cause).failure, {
      code: 'bad_gateway',
      description: `Telegram failed: ${text}; it may have been done`,
      certain: false,
    })
    t.same(requestFailure(cause, { readsOnly: true }).failure, {
      code: 'bad_gateway',
      description: `Telegram failed: ${text}`,
    })
  }
  t.equal(requestFailure(new tl.RpcError(400, 'CHAT_ADMIN_REQUIRED')).failure.certain, undefined)
  t.end()
})

t.test('what was sent before is not to be sent again because it is not found now', async (t) => {
  const before = requestFailure(new tl.RpcError(500, 'RANDOM_ID_DUPLICATE'))
  const content = { kind: 'text', text: 'x', entities: [] } as const
  const answers = {
    'has to wait': () => Promise.reject(failed('rate_limited', '', { retryAfterSeconds: 30 })),
    'is away': () => Promise.reject(failed('unavailable', '', { retryAfterSeconds: 1 })),
    'finds nothing': async () => ({ _: 'messages.messagesNotModified', count: 0 }),
  }
  for (const call of Object.values(answers)) {
    const context = { calls: { call }, self: '1', signal } as unknown as Context
    const sending = () => Promise.reject(before)
    const sent = repeated(context, { peer: { _: 'inputPeerSelf' }, content }, sending)
    await refused(t, sent, { code: 'timeout', certain: false })
  }
})
