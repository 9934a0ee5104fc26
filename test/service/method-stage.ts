/** A bot with a group, people and files: what a call of any method needs. */
import { callWithFiles, film, picture, soundOf } from './files.ts'
import { scene } from './scene.ts'

export type Value = ReturnType<typeof JSON.parse>

export async function methodStage(t: Parameters<typeof scene>[0]) {
  const env = {
    FFMPEG: '',
    SEND_RATE: '1000',
    SEND_BURST: '1000',
    CHAT_RATE: '1000',
    CHAT_BURST: '1000',
  }
  const { service, client, bot, ada, key, credentialId } = await scene(t, { env })
  const [kim, joe] = [await client.person('Kim'), await client.person('Joe')]
  const { id: chat_id } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Group',
    owner: bot.id,
    members: [ada.id],
  })
  const { id: forum } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Forum',
    is_forum: true,
    owner: bot.id,
  })
  await client.result('POST', '/sandbox/sticker_sets', {
    name: 'Teapots',
    title: 'Teapots',
    stickers: [{ emoji: '🫖', data: (await picture()).toString('base64') }],
  })
  const files = {
    picture: { bytes: await picture() },
    other: { bytes: await picture(64, 64, '#808080') },
    film: { bytes: film },
    sound: { bytes: soundOf.ogg },
    song: { bytes: soundOf.mp3 },
  }

  const call = (method: string, parameters: Readonly<Record<string, unknown>> = {}) =>
    JSON.stringify(parameters).includes('attach://')
      ? callWithFiles(service.url, key, method, parameters, files)
      : client.bot(key, method, parameters)

  async function done(method: string, parameters: Readonly<Record<string, unknown>> = {}) {
    const { status, body } = await call(method, parameters)
    if (status !== 200 || body.ok !== true) throw new Error(`${method}: ${JSON.stringify(body)}`)
    return body.result as Value
  }

  const text = async (more: object = {}): Promise<number> =>
    (await done('sendMessage', { chat_id, text: 'hi', ...more })).message_id
  const follow = (person: { id: number }, invite_link: string) =>
    client.result('POST', `/sandbox/people/${person.id}/follow`, { invite_link })

  /** The next update of this kind, once it is there. */
  async function next(kind: string): Promise<Value> {
    for (let tries = 0; tries < 20; tries += 1) {
      const updates: Value[] = await done('getUpdates', { timeout: 5 })
      const found = updates.find((update) => update[kind])
      const last = found ?? updates.at(-1)
      if (last) await done('getUpdates', { offset: last.update_id + 1 })
      if (found) return found[kind]
    }
    throw new Error(`no ${kind} came`)
  }

  /** Somebody presses a button; resolves with the query that the bot is to answer. */
  async function pressed(): Promise<string> {
    const reply_markup = { inline_keyboard: [[{ text: 'b', callback_data: 'd' }]] }
    const { message_id } = await done('sendMessage', { chat_id: ada.id, text: 'hi', reply_markup })
    await client.result('POST', `/sandbox/people/${ada.id}/presses`, {
      chat: bot.id,
      message_id,
      callback_data: 'd',
      wait_seconds: 0,
    })
    return (await next('callback_query')).id
  }

  /** Somebody writes to the bot in inline mode; resolves with the query that the bot is to answer. */
  async function asked(): Promise<string> {
    const query = { bot: bot.id, chat: kim.id, query: crypto.randomUUID(), wait_seconds: 0 }
    await client.result('POST', `/sandbox/people/${ada.id}/inline_queries`, query)
    return (await next('inline_query')).id
  }

  /** Somebody names the bot where it is no member; resolves with the query that the bot is to answer. */
  async function called(): Promise<string> {
    await client.write(ada.id, kim.id, '@gatebot help')
    return (await next('guest_message')).guest_query_id
  }

  /** Somebody has a web app of the bot open; resolves with its query. */
  async function opened(): Promise<string> {
    const app = { bot: bot.id, url: 'https://app.invalid' }
    return (await client.result('POST', `/sandbox/people/${ada.id}/web_apps`, app)).query_id
  }

  return {
    client,
    bot,
    ada,
    kim,
    joe,
    key,
    credentialId,
    chat_id,
    forum,
    call,
    done,
    text,
    follow,
    pressed,
    asked,
    called,
    next,
    opened,
    databaseUrl: service.databaseUrl,
  }
}

export type MethodStage = Awaited<ReturnType<typeof methodStage>>
