/** Live photos on the sandbox: alone, in albums, sent again, forwarded, and put into messages. */
import t from 'tap'
import { callWithFiles, film, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t, { env: { FFMPEG: '' } })
const files = { picture: { bytes: await picture() }, film: { bytes: film } }
const chat_id = ada.id
const call = (method: string, parameters: object) =>
  callWithFiles(service.url, key, method, { chat_id, ...parameters }, files)

async function done(method: string, parameters: object) {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}

const still = { type: 'photo', media: 'attach://picture' }
const live = { type: 'live_photo', media: 'attach://film', photo: 'attach://picture' }
const alone = { live_photo: 'attach://film', photo: 'attach://picture' }
const shown = { photo: [{ file_id: String }], live_photo: { file_id: String, duration: Number } }

const seenBy = async (person: { id: number }, message_id: number) => {
  const { messages } = await client.result(
    'GET',
    `/sandbox/people/${person.id}/inbox?wait_seconds=0`,
  )
  return messages.find((one: { message_id: number }) => one.message_id === message_id)
}
const isThere = async (url: string) => {
  const headers = { authorization: `Bearer ${client.token}` }
  const { status, body } = await fetch(`${service.url}${url}`, { headers })
  await body?.cancel()
  return status === 200
}

t.test('they stand in albums beside photos', async (t) => {
  const sent = await done('sendMediaGroup', { media: [live, still, { ...live, caption: 'Last' }] })
  t.match(sent, [shown, { photo: Array, live_photo: undefined }, { ...shown, caption: 'Last' }])
  const { media } = await seenBy(ada, sent[0].message_id)
  t.match(media, { type: 'photo', live: { type: 'video', url: String } })
  t.ok(await isThere(media.live.url))
  const { media: plain } = await seenBy(ada, sent[1].message_id)
  t.notOk(plain.live)
})

t.test('an edit puts one in, and another takes its film away', async (t) => {
  const { message_id } = await done('sendPhoto', { photo: 'attach://picture' })
  t.match(await done('editMessageMedia', { message_id, media: live }), { message_id, ...shown })
  const { media } = await seenBy(ada, message_id)
  t.ok(await isThere(media.live.url))
  t.match(await done('editMessageCaption', { message_id, caption: 'Moving' }), {
    ...shown,
    caption: 'Moving',
  })
  const edited = await done('editMessageMedia', { message_id, media: still })
  t.notOk('live_photo' in edited)
  t.notOk((await seenBy(ada, message_id)).media.live)
})

t.test('one is sent again by its ids, forwarded and copied with its film', async (t) => {
  const first = await done('sendLivePhoto', alone)
  const ids = { live_photo: first.live_photo.file_id, photo: first.photo.at(-1).file_id }
  t.match(await done('sendLivePhoto', ids), shown)
  const kim = await client.person('Kim')
  await client.write(kim.id, bot.id, 'hello')
  const from = { chat_id: kim.id, from_chat_id: chat_id, message_id: first.message_id }
  t.match(await done('forwardMessage', from), shown)
  const { message_id } = await done('copyMessage', from)
  await done('deleteMessage', { message_id: first.message_id })
  const { media } = await seenBy(kim, message_id)
  t.ok(await isThere(media.live.url), 'the film outlives the first message')
})

t.test('what is no film or has no photo is refused', async (t) => {
  const url = { ...alone, photo: 'https://example.org/a.jpg' }
  t.match(
    await call('sendLivePhoto', url),
    refused(400, "Bad Request: live photos can't be sent by a URL"),
  )
  const wrong = { ...live, photo: 'attach://absent' }
  t.match(
    await call('sendMediaGroup', { media: [wrong, still] }),
    refused(400, "Bad Request: can't parse InputMedia: photo not found"),
  )
})
