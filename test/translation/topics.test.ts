/** Topics on networks with ids of their own: named by the number of the message that began them. */
import t from 'tap'
import type { Chat, Message } from '../../machines/model/content.ts'
import type { PublicOperation } from '../../machines/model/operation.ts'
import { Translator } from '../../src/translation/translator.ts'
import { testFileIds } from '../support/file-ids.ts'
import { stage } from '../updates/stage.ts'

const scene = await stage(t)
const credentialId = await scene.credential()
const translator = new Translator(scene.db, testFileIds, () => 'mapped')
const native = (operation: PublicOperation): Promise<ReturnType<typeof JSON.parse>> =>
  translator.toNative(credentialId, operation, async () => {
    throw new Error('no name is asked for')
  })
const present = (result: Parameters<Translator['present']>[1]) =>
  translator.present({ credentialId, epoch: 0 }, result, false) as Promise<
    ReturnType<typeof JSON.parse>
  >

const forum: Chat = { native: 'forum', surface: 'supergroup', title: 'Forum', isForum: true }
const look = { name: 'Tea', iconColor: 0x6fb9f0 }
const start: Message = {
  native: 'start',
  chat: forum,
  at: 1,
  content: { kind: 'service', fact: 'topic_created', ...look },
  topic: { native: 'start' },
}
const within: Message = {
  native: 'within',
  chat: forum,
  at: 2,
  content: { kind: 'text', text: 'hot', entities: [] },
  topic: { native: 'start', message: start },
}

t.test('a topic has the number of its first message, there and back', async (t) => {
  const topic = { native: 'start', ...look }
  const { message_thread_id, ...shown } = await present({ kind: 'topic', chat: forum, topic })
  t.same(shown, { name: 'Tea', icon_color: 0x6fb9f0 })
  const message = await present({ kind: 'message', message: within })
  t.match(message, {
    message_thread_id,
    is_topic_message: true,
    reply_to_message: { message_id: message_thread_id, forum_topic_created: { name: 'Tea' } },
  })
  const chat = message.chat.id
  const content = within.content
  t.match(await native({ kind: 'send', chat, content, topic: message_thread_id }), {
    chat: 'forum',
    topic: 'start',
  })
  t.match(await native({ kind: 'close_topic', chat, topic: message_thread_id }), { topic: 'start' })
  const lost = native({ kind: 'send', chat, content, topic: 4_242 })
  await t.rejects(lost, { message: 'message thread not found' })
})

t.test('a topic that no client was told of has no number', async (t) => {
  const topic = { native: 'before' }
  const message = await present({ kind: 'message', message: { ...within, native: 'm', topic } })
  t.equal(message.text, 'hot')
  t.notOk('message_thread_id' in message || 'reply_to_message' in message)
})
