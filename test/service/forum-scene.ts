/** A bot and a person with forums, and what each of them is shown there. */
import type { Test } from 'tap'
import { until } from '../support/client.ts'
import { scene } from './scene.ts'

type Value = ReturnType<typeof JSON.parse>

const env = {
  FFMPEG: '',
  SEND_RATE: '1000',
  SEND_BURST: '1000',
  CHAT_RATE: '1000',
  CHAT_BURST: '1000',
}

export async function forumScene(t: Test) {
  const stage = await scene(t, { env })
  const { client, ada, bot, key } = stage
  const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)

  async function done(method: string, parameters: object = {}): Promise<Value> {
    const { body } = await call(method, parameters)
    if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
    return body.result
  }

  const forum = async (owner: number = bot.id, more: object = {}): Promise<number> => {
    const members = [ada.id, bot.id]
    const chat = { kind: 'supergroup', title: 'Forum', is_forum: true, owner, members, ...more }
    return (await client.result('POST', '/sandbox/chats', chat)).id
  }
  const topics = (chat: number) => `/sandbox/people/${ada.id}/chats/${chat}/topics`

  let offset = 0
  /** What the next updates of a kind carry. */
  async function told(count: number, of: (update: Value) => Value): Promise<Value[]> {
    const found: Value[] = []
    const allowed_updates = ['message', 'deleted_messages']
    await until(async () => {
      const updates: Value[] = await done('getUpdates', { timeout: 2, offset, allowed_updates })
      offset = (updates.at(-1)?.update_id ?? offset - 1) + 1
      found.push(...updates.map(of).filter(Boolean))
      return found.length >= count
    }, 60_000)
    return found
  }

  return {
    ...stage,
    call,
    done,
    forum,
    /** Begins a topic as the bot; resolves with its thread. */
    topic: async (chat_id: number, name = 'Tea'): Promise<number> =>
      (await done('createForumTopic', { chat_id, name })).message_thread_id,
    /** What Ada does with topics. */
    adas: (method: string, chat: number, body?: object, topic?: number) =>
      client.ask(method, `${topics(chat)}${topic === undefined ? '' : `/${topic}`}`, body),
    writes: (to: number, text: string, more: object = {}) =>
      client.ask('POST', `/sandbox/people/${ada.id}/messages`, { to, text, ...more }),
    inbox: () => client.result('GET', `/sandbox/people/${ada.id}/inbox`),
    /** What Ada is shown in a chat, the oldest first. */
    shown: async (chat: number): Promise<Value[]> =>
      (
        await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${chat}`)
      ).messages.toReversed(),
    told,
  }
}
