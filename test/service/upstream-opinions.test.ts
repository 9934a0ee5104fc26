/** A gateway behind a gateway: drafts, reactions taken back, and sticker sets. */
import sharp from 'sharp'
import t from 'tap'
import { startChain } from '../platforms/upstream-bot/chain.ts'
import { until } from '../support/client.ts'
import { picture } from './files.ts'
import { poller } from './poller.ts'
import { lasting } from './upstream-answers.ts'

const chain = await startChain(t)
const { inner, outer, near, far, bot, ada, token, innerKey, outerKey, credentialId } = chain
const alike = async (method: string, parameters: object) => {
  const one = await near.bot(innerKey, method, parameters)
  const both = await far.bot(outerKey, method, parameters)
  t.equal(both.status, one.status, `${method}: ${JSON.stringify(both.body)}`)
  t.strictSame(lasting(both.body), lasting(one.body), method)
  return both.body
}
const done = async (method: string, parameters: object) => {
  const { body } = await far.bot(outerKey, method, { chat_id: ada.id, ...parameters })
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const inbox = (query = '') => near.result('GET', `/sandbox/people/${ada.id}/inbox${query}`)

t.test('a person sees the draft, until the message is there', async (t) => {
  t.equal(await done('sendMessageDraft', { draft_id: 7, text: '' }), true)
  await done('sendMessageDraft', { draft_id: 7, text: '<b>Once</b> upon', parse_mode: 'HTML' })
  t.match((await inbox()).drafts, [
    {
      person: { id: bot.id },
      draft_id: 7,
      text: 'Once upon',
      entities: [{ type: 'bold', offset: 0, length: 4 }],
    },
  ])
  await done('sendMessage', { text: 'Once upon a time' })
  t.match(await inbox(), { drafts: { length: 0 }, messages: [{ text: 'Once upon a time' }] })
  await alike('sendMessageDraft', { chat_id: 424_242, draft_id: 1, text: 'x' })
  await alike('sendMessageDraft', { chat_id: ada.id, draft_id: 0, text: 'x' })
})

t.test('the reaction of somebody is gone, and its end is told', async (t) => {
  const { next } = await poller(far, credentialId)
  // The inner gateway is asked for reactions from now on.
  await until(async () => {
    const { body } = await near.bot(token, 'getWebhookInfo')
    return body.result.allowed_updates?.includes('message_reaction')
  })
  const members = [bot.id, ada.id]
  const group = { kind: 'supergroup', title: 'Group', owner: bot.id, members }
  const { id: chat_id } = await near.result('POST', '/sandbox/chats', group)
  const { message_id } = await done('sendMessage', { chat_id, text: 'like it' })
  const path = `/sandbox/people/${ada.id}/chats/${chat_id}/messages/${message_id}/reactions`
  await near.result('PUT', path, { reactions: [{ emoji: '👍' }] })
  const given = await next()
  t.match(given, { message_reaction: { new_reaction: [{ emoji: '👍' }] } })
  const about = { chat_id, message_id, user_id: ada.id }
  t.equal(await done('deleteMessageReaction', about), true)
  t.match(await next(), {
    message_reaction: { message_id, user: { id: ada.id }, new_reaction: { length: 0 } },
  })
  t.equal((await inbox(`?chat=${chat_id}&limit=1`)).messages[0].reactions, undefined)
  await alike('deleteMessageReaction', { ...about, message_id: 99_999 })
  await alike('deleteMessageReaction', { ...about, user_id: 99_999_999 })
  await alike('deleteMessageReaction', { ...about, chat_id: ada.id })
})

t.test('a sticker set is shown alike, and its files are there', async (t) => {
  const data = (await picture(300, 200, '#104020')).toString('base64')
  const stickers = [{ emoji: '🍵', data }]
  await near.result('POST', '/sandbox/sticker_sets', { name: 'Teapots', title: 'Pots', stickers })
  const { result } = await alike('getStickerSet', { name: 'teapots' })
  t.match(result, { name: 'Teapots', title: 'Pots', stickers: [{ emoji: '🍵', width: 512 }] })
  await alike('getStickerSet', { name: 'Nothing' })
  const [{ file_id }] = result.stickers
  const { file_path } = await done('getFile', { file_id })
  const file = await fetch(`${outer.url}/file/bot${outerKey}/${file_path}`)
  const { format, width } = await sharp(Buffer.from(await file.arrayBuffer())).metadata()
  t.same({ format, width }, { format: 'webp', width: 512 })
  const sent = await done('sendSticker', { sticker: file_id })
  t.match(sent.sticker, { set_name: 'Teapots', emoji: '🍵' })
  t.match((await inbox()).messages[0], { media: { type: 'sticker', set_name: 'Teapots' } })
  t.not(inner.url, outer.url)
})
