/** What is known of a request that Telegram has failed at. */
import { tl } from '@mtcute/node'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { closedBy, requestFailure } from '../../src/platforms/telegram/failures.ts'
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

t.test('a public group that the account has left does not let it write', (t) => {
  const cause = requestFailure(new tl.RpcError(403, 'CHAT_WRITE_FORBIDDEN'))
  const chat = { _: 'channel', id: 1, title: '', megagroup: true } as tl.RawChannel
  t.equal(closedBy(chat, cause), cause)
  t.match(closedBy({ ...chat, left: true }, cause), {
    failure: { code: 'forbidden', description: 'bot is not a member of the supergroup chat' },
  })
  t.equal(closedBy(undefined, cause), cause)
  t.end()
})

t.test('bots read of a refusal what the reference would have told them', (t) => {
  const told = (code: number, text: string) => requestFailure(new tl.RpcError(code, text)).failure
  for (const [text, description] of [
    ['USER_IS_BLOCKED', 'bot was blocked by the user'],
    ['INPUT_USER_DEACTIVATED', 'user is deactivated'],
    ['CHANNEL_PRIVATE', 'bot is not a member of the supergroup chat'],
    ['CHAT_FORBIDDEN', 'bot is not a member of the group chat'],
  ] as const) {
    t.match(told(400, text), { code: 'forbidden', description }, text)
    t.match(told(403, text), { code: 'forbidden', description }, text)
  }
  for (const [code, text, description] of [
    [403, 'CHAT_SEND_PLAIN_FORBIDDEN', 'not enough rights to send text messages to the chat'],
    [403, 'CHAT_SEND_PHOTOS_FORBIDDEN', 'not enough rights to send photos to the chat'],
    [403, 'CHAT_SEND_ROUNDVIDEOS_FORBIDDEN', 'not enough rights to send video notes to the chat'],
    [403, 'CHAT_SEND_MEDIA_FORBIDDEN', 'CHAT_SEND_MEDIA_FORBIDDEN'],
    [403, 'CHAT_WRITE_FORBIDDEN', 'have no write access to the chat'],
    [403, 'CHAT_GUEST_SEND_FORBIDDEN', 'CHAT_GUEST_SEND_FORBIDDEN'],
    [403, 'SOMETHING_NEW', 'SOMETHING_NEW'],
    [400, 'PEER_FLOOD', 'the network keeps the account from writing to strangers'],
    [400, 'CHAT_ABOUT_NOT_MODIFIED', 'chat description is not modified'],
    [400, 'CHAT_FORWARDS_RESTRICTED', "message has protected content and can't be forwarded"],
    [400, 'MEDIA_EMPTY', 'wrong file identifier/HTTP URL specified'],
    [400, 'PACK_SHORT_NAME_OCCUPIED', 'sticker set name is already occupied'],
  ] as const) {
    t.equal(told(code, text).code, 'bad_request', text)
    t.equal(told(code, text).description, description, text)
  }
  t.end()
})
