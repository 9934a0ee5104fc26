/** Stories: posted by the account, seen by those who have talked to it, deleted. */
import { Bot, InputFile } from 'grammy'
import t from 'tap'
import { callWithFiles, film, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key, credentialId } = await scene(t, { env: { FFMPEG: '' } })
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const stranger = await client.person('Kim')
await client.write(ada.id, bot.id, 'hello')

const files = { shot: { bytes: await picture(1080, 1920) }, clip: { bytes: film } }
const photo = { type: 'photo', photo: 'attach://shot' }
const day = { active_period: 86_400 }
const post = (parameters: Readonly<Record<string, unknown>>) =>
  callWithFiles(service.url, key, 'postStory', parameters, files)
const posted = async (parameters: object = {}) => {
  const { body } = await post({ content: photo, ...day, ...parameters })
  if (!body.ok) throw new Error(JSON.stringify(body))
  return body.result
}
const seenBy = ({ id }: { id: number }) => client.result('GET', `/sandbox/people/${id}/stories`)
const remove = (parameters: object) => client.bot(key, 'deleteStory', parameters)

t.test('a photo is shown to whom the account has talked to', async (t) => {
  const story = await posted({
    caption: 'At <b>sea</b>',
    parse_mode: 'HTML',
    protect_content: true,
  })
  t.match(story, { id: Number, chat: { id: bot.id, type: 'private', username: 'gatebot' } })
  const [shown] = await seenBy(ada)
  t.match(shown, {
    person: { id: bot.id },
    story_id: story.id,
    media: { type: 'photo', width: 1080, height: 1920 },
    caption: 'At sea',
    caption_entities: [{ type: 'bold', offset: 3, length: 3 }],
    is_kept: false,
    has_protected_content: true,
  })
  const lasts = Date.parse(shown.expires_at) - Date.parse(shown.posted_at)
  t.equal(lasts, 86_400_000)
  const file = await fetch(`${service.url}${shown.media.url}`, {
    headers: { authorization: `Bearer ${client.token}` },
  })
  t.equal((await file.arrayBuffer()).byteLength, shown.media.file_size)
  t.same(await seenBy(stranger), [], 'a stranger sees nothing')
  t.equal((await seenBy(bot)).length, 1, 'the account itself does')
})

t.test('films are shown, with sound and without', async (t) => {
  const video = { type: 'video', video: 'attach://clip', duration: 1.5 }
  const loud = await posted({ content: video, active_period: 6 * 3600, post_to_chat_page: true })
  const silent = await posted({ content: { ...video, is_animation: true } })
  t.ok(silent.id > loud.id, 'ids go up')
  t.match(await seenBy(ada), [
    { story_id: silent.id, media: { type: 'animation' } },
    { story_id: loud.id, media: { type: 'video', duration: 1 }, is_kept: true },
  ])
})

t.test('who is blocked, on either side, sees no stories', async (t) => {
  const count = (await seenBy(ada)).length
  await client.result('PUT', `/sandbox/people/${bot.id}/blocks/${ada.id}`)
  t.same(await seenBy(ada), [])
  await client.result('DELETE', `/sandbox/people/${bot.id}/blocks/${ada.id}`)
  t.equal((await seenBy(ada)).length, count)
})

t.test('a deleted story is gone, and cannot be deleted again', async (t) => {
  const { id: story_id } = await posted()
  t.match(await remove({ story_id }), { status: 200, body: { ok: true, result: true } })
  const left: { story_id: number }[] = await seenBy(ada)
  t.notOk(left.some((story) => story.story_id === story_id))
  t.match(await remove({ story_id }), bad('story not found'))
  t.match(await remove({}), bad('story not found'))
  t.not((await posted()).id, story_id, 'its number is not given again')
})

t.test('no business connection is needed, and none is known', async (t) => {
  t.ok((await posted({ business_connection_id: '' })).id)
  const named = { business_connection_id: 'abc' }
  t.match(await post({ content: photo, ...day, ...named }), bad('business connection not found'))
  t.match(await remove({ story_id: 1, ...named }), bad('business connection not found'))
})

t.test('grammY posts one and deletes it', async (t) => {
  const { api } = new Bot(key, { client: { apiRoot: service.url } })
  const content = { type: 'photo', photo: new InputFile(files.shot.bytes) } as const
  const story = await api.postStory('', content, 86_400, { caption: 'from a library' })
  t.match((await seenBy(ada))[0], { story_id: story.id, caption: 'from a library' })
  t.equal(await api.deleteStory('', story.id), true)
})

t.test('what is no story is refused', async (t) => {
  const offers: readonly (readonly [object, string])[] = [
    [{ content: '' }, "story content isn't specified"],
    [{ content: 'photo' }, "can't parse story content JSON object"],
    [{ content: { type: 'text' } }, 'invalid story content type specified'],
    [{ content: { ...photo, photo: 'attach://none' } }, 'story photo must be uploaded as a file'],
    [{ content: { type: 'video', video: 'AgAC' } }, 'story video must be uploaded as a file'],
    [{ content: { type: 'video', video: 'attach://shot' } }, 'MEDIA_FILE_INVALID'],
    [{ active_period: 3600 }, 'invalid story active period specified'],
    [{ active_period: '' }, 'invalid story active period specified'],
    [{ caption: 'x'.repeat(2049) }, 'message caption is too long'],
    [{ areas: [{ position: {} }] }, 'areas of stories are not supported on Sandbox'],
    [{ areas: {} }, 'expected an Array of InputStoryArea'],
  ]
  for (const [offer, description] of offers) {
    t.match(await post({ content: photo, ...day, ...offer }), bad(description), description)
  }
  const longest = await posted({ caption: 'x'.repeat(2048), areas: [] })
  t.ok(longest.id)
})

t.test('a key that may not send may not post', async (t) => {
  const { key: reader } = await client.key(credentialId, ['bot:receive'])
  const lacks = refused(403, 'Forbidden: the key lacks the scope bot:send')
  t.match(await client.bot(reader, 'postStory', { content: photo, ...day }), lacks)
  t.match(await client.bot(reader, 'deleteStory', { story_id: 1 }), lacks)
})
