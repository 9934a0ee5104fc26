/** Albums: all of their messages are sent or none, and each stays in its album when it changes. */
import t from 'tap'
import { callWithFiles, film, picture, soundOf } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t, { env: { FFMPEG: '' } })
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const files = {
  one: { bytes: await picture(320, 240, '#112233') },
  two: { bytes: await picture(320, 240, '#445566') },
  film: { bytes: film },
  song: { bytes: soundOf.mp3 },
  words: { bytes: Buffer.from('words') },
}
const album = (media: object[], more: object = {}) =>
  callWithFiles(service.url, key, 'sendMediaGroup', { chat_id: ada.id, media, ...more }, files)
const item = (type: string, part: string, more: object = {}) => ({
  type,
  media: `attach://${part}`,
  ...more,
})
const inbox = async () =>
  (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)).messages

t.test('an album is sent as a whole', async (t) => {
  const { body } = await album([
    item('photo', 'one', { caption: 'first' }),
    item('video', 'film', { has_spoiler: true }),
    item('photo', 'two', { caption: '<b>last</b>', parse_mode: 'HTML' }),
  ])
  t.match(body.result, [
    { photo: Array, caption: 'first' },
    { video: Object, has_media_spoiler: true },
    { photo: Array, caption: 'last', caption_entities: [{ type: 'bold' }] },
  ])
  const ids = body.result.map(({ message_id }: { message_id: number }) => message_id)
  t.same(ids, [ids[0], ids[0] + 1, ids[0] + 2])
  const groups = new Set(body.result.map((each: { media_group_id: string }) => each.media_group_id))
  t.equal(groups.size, 1)
  const seen = (await inbox()).toReversed()
  t.match(seen, [{ caption: 'first' }, { media: { type: 'video' } }, { caption: 'last' }])
  t.match(seen[2].media_group_id, [...groups][0])
})

t.test('an album of one is a message, and an answer keeps its target', async (t) => {
  const target = await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'target' })
  const { message_id } = target.body.result
  const { body } = await album([item('document', 'words')], { reply_parameters: { message_id } })
  t.match(body.result, [{ document: Object, reply_to_message: { message_id } }])
  t.equal(body.result.length, 1)
})

t.test('people hear of all of it', async (t) => {
  const eve = await client.person('Eve')
  const { key: evesKey } = await client.key(await client.link(eve))
  await album([item('photo', 'one'), item('photo', 'two')], { chat_id: eve.id })
  const updates: { message: { media_group_id?: string } }[] = []
  while (updates.length < 2) {
    const offset = -10
    const { body } = await client.bot(evesKey, 'getUpdates', { timeout: 5, offset })
    updates.splice(0, updates.length, ...body.result)
  }
  t.ok(updates[0]!.message.media_group_id)
  t.equal(updates[0]!.message.media_group_id, updates[1]!.message.media_group_id)
})

t.test('all or none, and why', async (t) => {
  const before = (await inbox()).length
  const mixed = await album([item('audio', 'song'), item('document', 'words')])
  t.match(mixed, bad("audio can't be mixed with other media types"))
  t.match(
    await album([item('photo', 'one'), item('video', 'words')]),
    bad("can't use the media of the specified type in the album"),
    'words are no film, but a document',
  )
  t.match(await album([]), bad('there are no messages to send'))
  const many = Array.from({ length: 11 }, () => item('photo', 'one'))
  t.match(await album(many), bad('too many messages to send as an album'))
  const unknown = { chat_id: 5 }
  t.match(await album([item('photo', 'one'), item('photo', 'two')], unknown), bad('chat not found'))
  t.equal((await inbox()).length, before, 'nothing was sent')
})

t.test('in an album a file gives way to its like alone', async (t) => {
  const { body } = await album([item('photo', 'one'), item('photo', 'two')])
  const [{ message_id, media_group_id }] = body.result
  const edit = (media: object) => {
    const parameters = { chat_id: ada.id, message_id, media }
    return callWithFiles(service.url, key, 'editMessageMedia', parameters, files)
  }
  const edited = await edit(item('video', 'film'))
  t.match(edited.body.result, { message_id, video: Object, media_group_id })
  t.match(await edit(item('document', 'words')), bad("can't change media type in the album"))
})

t.test('a fault in an item is named as such, and one of its file by its place', async (t) => {
  const good = item('photo', 'one')
  const faults = {
    "can't parse InputMedia: Can't parse entities: Can't find end tag corresponding to start tag \"b\"":
      item('photo', 'two', { caption: '<b>open', parse_mode: 'HTML' }),
    "can't parse InputMedia: Unsupported parse_mode": item('photo', 'two', {
      caption: 'x',
      parse_mode: 'RTF',
    }),
    "can't parse InputMedia: media not found": item('photo', 'absent'),
    'can\'t parse InputMedia: type "sticker" is unsupported': item('sticker', 'two'),
    'can\'t parse InputMedia: type "animation" can\'t be used in sendMediaGroup': item(
      'animation',
      'film',
    ),
    'message caption is too long': item('photo', 'two', { caption: 'x'.repeat(1_025) }),
    'wrong remote file identifier specified: Wrong character in the string': {
      type: 'photo',
      media: 'no id',
    },
  }
  for (const [description, faulty] of Object.entries(faults)) {
    t.match(await album([good, faulty]), bad(description))
  }
  t.match(await album([good, item('photo', 'words')]), {
    status: 400,
    body: { description: /^Bad Request: failed to send message #2 with the error message ".+"$/ },
  })
})

t.test('a new file of a message is read like an item of an album', async (t) => {
  const { body } = await album([item('photo', 'one')])
  const { message_id } = body.result[0]
  const edit = (media: object | string) => {
    const target = { chat_id: ada.id, message_id }
    return callWithFiles(service.url, key, 'editMessageMedia', { ...target, media }, files)
  }
  t.match(await edit(''), bad('parameter "media" is required'))
  t.match(await edit('{'), bad("can't parse input media JSON object"))
  t.match(await edit(item('photo', 'absent')), bad("can't parse InputMedia: media not found"))
  const marked = item('photo', 'two', { caption: '_', parse_mode: 'MarkdownV2' })
  t.match(
    await edit(marked),
    bad(
      "can't parse InputMedia: Can't parse entities: Can't find end of Italic entity at byte offset 0",
    ),
  )
})
