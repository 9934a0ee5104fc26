/** Files of every kind, sent by bots and by people, and opened again. */
import t from 'tap'
import { until } from '../support/client.ts'
import { callWithFiles, film, picture, soundOf } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t, { env: { FFMPEG: '' } })
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const upload = (method: string, parameters: object, files: Record<string, Buffer>) => {
  const parts = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, { bytes }]))
  return callWithFiles(service.url, key, method, { chat_id: ada.id, ...parameters }, parts)
}
const call = (method: string, parameters: object) =>
  client.bot(key, method, { chat_id: ada.id, ...parameters })
const inbox = async () =>
  (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)).messages

async function bytesOf(fileId: string): Promise<Buffer> {
  const { body } = await client.bot(key, 'getFile', { file_id: fileId })
  const path = `${service.url}/file/bot${key}/${body.result.file_path}`
  return Buffer.from(await (await fetch(path)).arrayBuffer())
}

const photo = await picture(1600, 900)
const files = {
  photo,
  video: film,
  animation: film,
  audio: soundOf.mp3,
  voice: soundOf.ogg,
  video_note: film,
  document: Buffer.from('plain words'),
  sticker: await picture(300, 300),
}
const methods = {
  photo: 'sendPhoto',
  video: 'sendVideo',
  animation: 'sendAnimation',
  audio: 'sendAudio',
  voice: 'sendVoice',
  video_note: 'sendVideoNote',
  document: 'sendDocument',
  sticker: 'sendSticker',
} as const
type Kind = keyof typeof methods
const fileIdIn = (result: Record<string, unknown>, kind: Kind): string => {
  const member = result[kind]
  return (Array.isArray(member) ? member.at(-1) : member).file_id
}
const ids: Partial<Record<Kind, string>> = {}

for (const kind of Object.keys(methods) as Kind[]) {
  t.test(`${kind}: is uploaded, seen, sent again by its file_id`, async (t) => {
    const caption = ['sticker', 'video_note'].includes(kind) ? undefined : `a ${kind}`
    const { body } = await upload(methods[kind], caption ? { caption } : {}, {
      [kind]: files[kind],
    })
    t.ok(body.ok, body.description)
    t.equal(body.result.caption, caption)
    const fileId = fileIdIn(body.result, kind)
    ids[kind] = fileId
    const [seen] = await inbox()
    t.match(seen, { message_id: body.result.message_id, media: { type: kind } })
    t.equal(seen.caption, caption)

    const again = await call(methods[kind], { [kind]: fileId })
    t.equal(fileIdIn(again.body.result, kind), fileId)
    t.same({ ...again.body.result[kind] }, { ...body.result[kind] })
  })
}

t.test('a photo has sizes, and any of them stands for it', async (t) => {
  const { body } = await call('sendPhoto', { photo: ids.photo })
  const sizes = body.result.photo
  t.ok(sizes.length > 1)
  t.match(sizes.at(-1), { width: 1600, height: 900 })
  const again = await call('sendPhoto', { photo: sizes[0].file_id })
  t.same(again.body.result.photo, sizes)
  const smallest = await bytesOf(sizes[0].file_id)
  t.equal(smallest.length, sizes[0].file_size)
})

t.test(
  'what is a document to the reference stays what it is, whoever sends it again',
  async (t) => {
    // A message with an animation has a copy of it as a document, for clients that know no others.
    const { body } = await call('sendAnimation', { animation: ids.animation })
    const { animation, document } = body.result
    t.equal(document.file_id, animation.file_id)
    const again = await call('sendDocument', { document: document.file_id, caption: 'again' })
    t.strictSame(again.body.result.animation, animation)
    t.equal(again.body.result.caption, 'again')
    t.match((await call('sendDocument', { document: ids.voice })).body.result, { voice: Object })
    t.match((await call('sendVideo', { video: ids.document })).body.result, { document: Object })
    t.match(
      await call('sendDocument', { document: ids.photo }),
      bad("can't use file of type Photo as Document"),
    )
  },
)

t.test('a caption above and a cover over the picture stay with it, both ways', async (t) => {
  const wanted = { show_caption_above_media: true, has_spoiler: true }
  const shown = { show_caption_above_media: true, has_media_spoiler: true }
  const { body } = await call('sendPhoto', { photo: ids.photo, caption: 'above', ...wanted })
  t.match(body.result, { caption: 'above', ...shown })
  const plain = await call('sendPhoto', { photo: ids.photo, caption: 'below' })
  for (const name of Object.keys(shown)) t.notOk(name in plain.body.result, name)

  const media = { type: 'photo', data: photo.toString('base64'), caption: 'theirs', ...wanted }
  await client.result('POST', `/sandbox/people/${ada.id}/messages`, { to: bot.id, media })
  const { message, update_id } = await until(async () => {
    const updates = (await client.bot(key, 'getUpdates')).body.result
    return updates.at(-1)
  })
  t.match(message, { caption: 'theirs', ...shown })
  await client.bot(key, 'getUpdates', { offset: update_id + 1 })
})

t.test('a video begins at a second and has a cover, also when it is passed on', async (t) => {
  const from_chat_id = ada.id
  const start = (message: { video: { start_timestamp?: number } }) => message.video.start_timestamp
  const { body } = await upload(
    'sendVideo',
    { start_timestamp: 7, cover: 'attach://c' },
    { video: film, c: photo },
  )
  const { message_id, video } = body.result
  t.match(video, {
    start_timestamp: 7,
    cover: [{ width: Number, height: Number, file_id: String }],
  })
  t.equal((await bytesOf(video.cover.at(-1).file_id)).length, video.cover.at(-1).file_size)
  const pass = (method: string, more: object) => call(method, { from_chat_id, message_id, ...more })

  t.match((await pass('forwardMessage', {})).body.result.video, video)
  t.equal(start((await pass('forwardMessage', { video_start_timestamp: 9 })).body.result), 9)
  const first = await pass('forwardMessage', { video_start_timestamp: 0 })
  t.notOk('start_timestamp' in first.body.result.video)
  const copied = await pass('copyMessage', { video_start_timestamp: 3, caption: 'again' })
  const [seen] = await inbox()
  t.match(seen, { message_id: copied.body.result.message_id, media: { start_timestamp: 3 } })

  const again = await call('sendVideo', { video: video.file_id })
  t.notOk('start_timestamp' in again.body.result.video, 'it belongs to the message, not the file')
  t.notOk('cover' in again.body.result.video)
  const media = { type: 'video', media: video.file_id, start_timestamp: 5, cover: ids.photo }
  const edited = await call('editMessageMedia', { message_id, media })
  t.match(edited.body.result.video, { start_timestamp: 5, cover: Array })
  const album = await call('sendMediaGroup', { media: [media, { ...media, start_timestamp: 6 }] })
  t.same(album.body.result.map(start), [5, 6])
  const sold = await call('sendPaidMedia', { star_count: 1, media: [media] })
  t.match(sold.body.result.paid_media.paid_media[0], { video: { start_timestamp: 5 } })
  t.match(
    await call('sendVideo', { video: video.file_id, cover: video.file_id }),
    bad("can't use file of type Video as Photo"),
  )
})

t.test('a document keeps its bytes', async (t) => {
  t.same(await bytesOf(ids.document!), files.document)
})

t.test('what a person sends comes as an update, and is opened', async (t) => {
  const bytes = Buffer.from('from a person')
  await client.result('POST', `/sandbox/people/${ada.id}/messages`, {
    to: bot.id,
    media: {
      type: 'document',
      data: bytes.toString('base64'),
      file_name: 'note.txt',
      caption: 'see @gatebot',
    },
  })
  const { body } = await client.bot(key, 'getUpdates', { timeout: 5 })
  const { message } = body.result.at(-1)
  t.match(message, {
    document: { file_name: 'note.txt', mime_type: 'text/plain', file_size: bytes.length },
    caption: 'see @gatebot',
    caption_entities: [{ type: 'mention' }],
  })
  t.same(await bytesOf(message.document.file_id), bytes)
})

t.test('files that cannot be are refused', async (t) => {
  t.match(await call('sendPhoto', {}), bad('there is no photo in the request'))
  t.match(
    await call('sendPhoto', { photo: ids.document }),
    bad("can't use file of type Document as Photo"),
  )
  t.match(
    await call('sendPhoto', { photo: 'AAAA' }),
    bad("wrong remote file identifier specified: can't unserialize it. Wrong last symbol"),
  )
  t.match(
    await upload('sendDocument', {}, { document: Buffer.alloc(0) }),
    bad('file must be non-empty'),
  )
  const caption = 'x'.repeat(1025)
  t.match(
    await call('sendPhoto', { photo: ids.photo, caption }),
    bad('message caption is too long'),
  )
})

t.test('an answer that is lost is no second message', async (t) => {
  const before = (await inbox()).length
  await client.result('PUT', `/sandbox/people/${bot.id}/faults/lose_answers`, { times: 1 })
  const lost = await call('sendPhoto', { photo: ids.photo })
  t.equal(lost.status, 504)
  t.equal((await inbox()).length, before + 1)
})
