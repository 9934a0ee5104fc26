/** What becomes of messages that were sent: captions, files, buttons, and what cannot be changed. */
import t from 'tap'
import { until } from '../support/client.ts'
import { callWithFiles, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const upload = (method: string, parameters: object, bytes: Buffer) =>
  callWithFiles(service.url, key, method, { chat_id: ada.id, ...parameters }, { file: { bytes } })
const call = (method: string, parameters: object = {}) =>
  client.bot(key, method, { chat_id: ada.id, ...parameters })
const done = async (method: string, parameters: object = {}) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the same ' +
  'as a current content and reply markup of the message'

const document = { document: 'attach://file' }
const send = async (caption: string) => {
  const bytes = Buffer.from(`bytes of ${caption}`)
  const { body } = await upload('sendDocument', { ...document, caption }, bytes)
  return body.result
}
const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'yes' }]] }
const text = await done('sendMessage', { text: 'words' })
const file = await send('before')

t.test('a caption is changed, and taken away', async (t) => {
  const { message_id } = file
  const caption = '<i>after</i>'
  const edited = await done('editMessageCaption', { message_id, caption, parse_mode: 'HTML' })
  t.match(edited, { caption: 'after', caption_entities: [{ type: 'italic' }], edit_date: Number })
  t.equal(edited.document.file_id, file.document.file_id)
  const same = { message_id, caption, parse_mode: 'HTML' }
  t.match(await call('editMessageCaption', same), bad(NOT_MODIFIED))
  t.equal((await done('editMessageCaption', { message_id })).caption, undefined)
  const long = { message_id, caption: 'x'.repeat(1025) }
  t.match(await call('editMessageCaption', long), bad('message caption is too long'))
  t.match(
    await call('editMessageCaption', { message_id: text.message_id, caption: 'x' }),
    bad('there is no caption in the message to edit'),
  )
})

t.test('a file is replaced, also by another kind', async (t) => {
  const { message_id } = await send('first')
  const media = { type: 'photo', media: 'attach://file', caption: 'second' }
  const { body } = await upload('editMessageMedia', { message_id, media }, await picture())
  t.match(body.result, { message_id, photo: Array, caption: 'second' })
  const again = { type: 'photo', media: body.result.photo.at(-1).file_id, caption: 'second' }
  t.match(await call('editMessageMedia', { message_id, media: again }), bad(NOT_MODIFIED))
  const { message_id: words } = await done('sendMessage', { text: 'becomes a photo' })
  t.match(await done('editMessageMedia', { message_id: words, media: again }), { photo: Array })
  const dice = await done('sendDice')
  t.match(
    await call('editMessageMedia', { message_id: dice.message_id, media: again }),
    bad("message media can't be edited"),
  )
  const stolen = { type: 'photo', media: file.document.file_id }
  t.match(
    await call('editMessageMedia', { message_id, media: stolen }),
    bad("can't use file of type Document as Photo"),
  )
})

t.test('a file that no message can be changed to is refused', async (t) => {
  const { body } = await upload('sendSticker', { sticker: 'attach://file' }, await picture())
  const media = { type: 'document', media: body.result.sticker.file_id }
  t.match(
    await call('editMessageMedia', { message_id: file.message_id, media }),
    bad("message media can't be edited"),
  )
})

t.test('a text takes the place of a text only', async (t) => {
  const { message_id } = file
  t.match(
    await call('editMessageText', { message_id, text: 'x' }),
    bad('there is no text in the message to edit'),
  )
})

t.test('buttons come and go', async (t) => {
  const { message_id } = text
  t.match(await done('editMessageReplyMarkup', { message_id, reply_markup }), { reply_markup })
  t.match(await call('editMessageReplyMarkup', { message_id, reply_markup }), bad(NOT_MODIFIED))
  t.equal((await done('editMessageReplyMarkup', { message_id })).reply_markup, undefined)
})

t.test('only what the account sent itself is changed', async (t) => {
  const theirs = await client.write(ada.id, bot.id, 'mine')
  const { message_id } = theirs
  const forward = await done('forwardMessage', { from_chat_id: ada.id, message_id })
  for (const id of [message_id, forward.message_id]) {
    const target = { message_id: id }
    const refusal = bad("message can't be edited")
    t.match(await call('editMessageText', { ...target, text: 'x' }), refusal)
    t.match(await call('editMessageReplyMarkup', { ...target, reply_markup }), refusal)
  }
  const gone = { message_id: 99_999 }
  for (const [method, more] of [
    ['editMessageText', { text: 'x' }],
    ['editMessageCaption', { caption: 'x' }],
    ['editMessageReplyMarkup', { reply_markup }],
    ['editMessageLiveLocation', { latitude: 1, longitude: 2 }],
  ] as const) {
    t.match(await call(method, { ...gone, ...more }), bad('message to edit not found'), method)
  }
})

t.test('changes by others come as updates', async (t) => {
  const place = `/sandbox/people/${ada.id}`
  const media = { type: 'document', data: Buffer.from('x').toString('base64'), caption: 'one' }
  const { message_id } = await client.result('POST', `${place}/messages`, { to: bot.id, media })
  const path = `${place}/chats/${bot.id}/messages/${message_id}`
  await client.result('PATCH', path, { caption: 'two' })
  const edited = await until(async () => {
    const updates = await done('getUpdates', { offset: -1, timeout: 5 })
    return updates.at(-1)?.edited_message
  })
  t.match(edited, { message_id, caption: 'two', document: Object })
})

t.test('a copy has a caption of its own, or none', async (t) => {
  const { message_id } = await send('original')
  const passed = { from_chat_id: ada.id, message_id }
  const seen = async () => {
    const path = `/sandbox/people/${ada.id}/inbox?chat=${bot.id}&limit=1`
    return (await client.result('GET', path)).messages[0]
  }
  await done('copyMessage', passed)
  t.equal((await seen()).caption, 'original')
  await done('copyMessage', { ...passed, caption: 'copied' })
  t.equal((await seen()).caption, 'copied')
  await done('copyMessages', {
    from_chat_id: ada.id,
    message_ids: [message_id],
    remove_caption: true,
  })
  t.equal((await seen()).caption, undefined)
  await done('deleteMessage', { message_id })
  const { file: name } = (await seen()).media
  t.equal((await client.ask('GET', `/sandbox/people/${ada.id}/inbox`)).status, 200)
  t.ok(name, 'a copy outlives what it was made of')
  t.match(await call('copyMessage', passed), bad('message to copy not found'))
  t.match(await call('forwardMessage', passed), bad('message to forward not found'))
})
