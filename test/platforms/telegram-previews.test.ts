/** What is shown of the pages that texts of Telegram accounts link to: as the bot asks for it over HTTP. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('a bot on an account of Telegram chooses what is shown of a page', async (t) => {
  const stage = await Stage.start(t)
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend] = [stage.network.person(), stage.network.person()]
  const { key } = await linkOver(client, person)
  const ask = async (method: string, body: object) => {
    const { body: answer } = await client.bot(key, method, { chat_id: friend.id, ...body })
    return answer
  }
  const text = 'see https://example.org/a and https://example.org/b'
  const newest = () => [...friend.messages.values()].at(-1)
  await stage.network.delivery.send(friend, person, { message: 'hello' })
  const send = async (options: object) => {
    const { ok, result } = await ask('sendMessage', { text, ...options })
    t.ok(ok)
    return result
  }
  const media = { _: 'messageMediaWebPage' }
  const found = { ...media, manual: undefined, webpage: { url: 'https://example.org/a' } }

  await send({})
  t.match(newest(), { message: text, media: found })
  const { message_id } = await send({ link_preview_options: { is_disabled: true } })
  t.match(newest(), { message: text, media: undefined })
  await send({ disable_web_page_preview: true })
  t.match(newest(), { message: text, media: undefined })
  const wins = { disable_web_page_preview: true, link_preview_options: { show_above_text: true } }
  t.match(await send(wins), { text, link_preview_options: { show_above_text: true } })
  t.match(newest(), { media: found, invertMedia: true })

  const large = { prefer_large_media: true }
  t.match(await send({ link_preview_options: large }), { text, link_preview_options: large })
  const first = { url: 'https://example.org/a' }
  t.match(newest(), { message: text, media: { ...media, forceLargeMedia: true, webpage: first } })
  const other = { url: 'https://example.org/c', prefer_small_media: true }
  t.match(await send({ link_preview_options: other }), { text, link_preview_options: other })
  t.match(newest(), { media: { ...media, forceSmallMedia: true, webpage: { url: other.url } } })

  const edit = { message_id, text: `${text}!`, link_preview_options: other }
  t.match(await ask('editMessageText', edit), { result: { link_preview_options: other } })
  const again = { message_id, text, link_preview_options: { is_disabled: true } }
  t.match(await ask('editMessageText', again), { ok: true })
  t.match([...friend.messages.values()][2], { message: text, media: { _: 'messageMediaEmpty' } })

  const refusals = {
    '{': "can't parse link preview options JSON object",
    '[]': 'object expected as link preview options',
    '{"is_disabled":"yes"}': 'field "is_disabled" must be of type Boolean',
    '{"url":7}': 'field "url" must be of type String',
  }
  for (const [link_preview_options, description] of Object.entries(refusals)) {
    const refused = { error_code: 400, description: `Bad Request: ${description}` }
    t.match(await ask('sendMessage', { text, link_preview_options }), refused)
  }
})
