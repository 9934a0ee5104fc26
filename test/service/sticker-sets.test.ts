/** Sticker sets: made over the sandbox, found by bots, their stickers sent and downloaded. */
import { gzipSync } from 'node:zlib'
import { Api } from 'grammy'
import sharp from 'sharp'
import t from 'tap'
import { until } from '../support/client.ts'
import { callWithFiles, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, bot, key } = await scene(t, { env: { FFMPEG: '' } })
const api = new Api(key, { apiRoot: service.url })
const make = async (name: string, colors: Readonly<Record<string, string>>) =>
  client.ask('POST', '/sandbox/sticker_sets', {
    name,
    title: `The ${name}`,
    stickers: await Promise.all(
      Object.entries(colors).map(async ([emoji, color]) => ({
        emoji,
        data: (await picture(300, 200, color)).toString('base64'),
      })),
    ),
  })
const newest = async () =>
  (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)).messages[0]

t.test('a set shows its stickers in their order', async (t) => {
  t.match(await make('Teapots', { '🍵': '#104020', '🫖': '#402010' }), { status: 200 })
  const set = await api.getStickerSet('teapots')
  t.match(set, { name: 'Teapots', title: 'The Teapots', sticker_type: 'regular' })
  t.match(
    set.stickers,
    ['🍵', '🫖'].map((emoji) => ({
      emoji,
      set_name: 'Teapots',
      type: 'regular',
      width: 512,
      height: 341,
      is_animated: false,
      is_video: false,
      file_id: String,
      file_unique_id: String,
      file_size: Number,
      thumbnail: { file_id: String },
    })),
  )
  t.equal(new Set(set.stickers.map((sticker) => sticker.file_unique_id)).size, 2)
  t.match(await client.result('GET', '/sandbox/sticker_sets/TEAPOTS'), {
    name: 'Teapots',
    stickers: [{ emoji: '🍵', set_name: 'Teapots' }, { emoji: '🫖' }],
  })
})

t.test('a sticker of a set is sent and downloaded by its file_id', async (t) => {
  await make('Cups', { '🥤': '#aa1122' })
  const { stickers } = await api.getStickerSet('Cups')
  const [{ file_id, file_unique_id }] = stickers as [(typeof stickers)[number]]
  const { sticker } = await api.sendSticker(ada.id, file_id)
  t.match(sticker, { file_unique_id, set_name: 'Cups', emoji: '🥤' })
  t.match(await newest(), { media: { type: 'sticker', set_name: 'Cups', emoji: '🥤' } })
  const { file_path } = await api.getFile(file_id)
  const bytes = await (await fetch(`${service.url}/file/bot${key}/${file_path}`)).arrayBuffer()
  const { format, width } = await sharp(Buffer.from(bytes)).metadata()
  t.same({ format, width }, { format: 'webp', width: 512 })
})

t.test('people send stickers of sets, too', async (t) => {
  await make('Spoons', { '🥄': '#2233aa' })
  const { stickers } = await client.result('GET', '/sandbox/sticker_sets/Spoons')
  const media = { type: 'sticker', file: stickers[0].file }
  await client.result('POST', `/sandbox/people/${ada.id}/messages`, { to: bot.id, media })
  const sticker = await until(async () => {
    const updates = await api.getUpdates({ timeout: 2 })
    return updates.find(({ message }) => message?.sticker)?.message?.sticker
  }, 60_000)
  t.match(sticker, { set_name: 'Spoons', emoji: '🥄' })
  const again = await api.sendSticker(ada.id, sticker?.file_id ?? '')
  t.match(again.sticker, { set_name: 'Spoons' })
})

t.test('a sticker that was sent before may come into a set later', async (t) => {
  const data = (await picture(300, 200, '#665544')).toString('base64')
  const { media } = await client.result('POST', `/sandbox/people/${ada.id}/messages`, {
    to: bot.id,
    media: { type: 'sticker', data, emoji: '🧂' },
  })
  t.notOk('set_name' in media)
  const stickers = [{ emoji: '🍚', file: media.file }]
  await client.result('POST', '/sandbox/sticker_sets', { name: 'Late', title: 'Late', stickers })
  const set = await api.getStickerSet('Late')
  t.match(set.stickers, [{ emoji: '🍚', set_name: 'Late' }])
  const { sticker } = await api.sendSticker(ada.id, set.stickers[0]?.file_id ?? '')
  t.match(sticker, { emoji: '🍚', set_name: 'Late' })
})

t.test('what is no set is none', async (t) => {
  const invalid = refused(400, 'Bad Request: STICKERSET_INVALID')
  for (const name of ['Nothing', '', undefined, '%', 'x'.repeat(5_000)]) {
    t.match(await client.bot(key, 'getStickerSet', { name }), invalid, `${name}`.slice(0, 20))
  }
  t.match(await client.ask('GET', '/sandbox/sticker_sets/Nothing'), { status: 404 })
  t.match(await client.ask('GET', '/sandbox/sticker_sets/1st'), { status: 400 })
  await make('Taken', { '🫙': '#778899' })
  t.match(
    await make('TAKEN', { '🫙': '#000000' }),
    refused(400, 'Bad Request: sticker set name is already occupied'),
  )
  t.match(await api.getStickerSet('taken'), { name: 'Taken' })
  t.match(await make('1st', { '🫙': '#778899' }), { status: 400 })
  t.match(await make('Empty', {}), { status: 400 })
  t.match(await make('Halves', { '\ud83c': '#778899' }), { status: 400 })
  const unknown = { name: 'Odd', title: 'Odd', stickers: [{ emoji: '🙂', file: 'nothing' }] }
  t.match(await client.ask('POST', '/sandbox/sticker_sets', unknown), { status: 400 })
  t.match(await client.bot(key, 'getStickerSet', { name: 'Odd' }), invalid)
})

t.test('of custom emoji nothing is known, and what asks for them is looked at', async (t) => {
  const ask = (custom_emoji_ids?: unknown) =>
    client.bot(key, 'getCustomEmojiStickers', { custom_emoji_ids })
  t.same(await api.getCustomEmojiStickers(['5312536423851630001']), [])
  t.same(await api.getForumTopicIconStickers(), [])
  const cases = [
    [undefined, 'parameter "custom_emoji_ids" is required'],
    ['[', "can't parse custom emoji identifiers JSON object"],
    [{ id: '1' }, 'expected an Array of custom emoji identifiers'],
    [[1], 'custom emoji identifier must be of type String'],
    [['x'], 'invalid custom emoji identifier specified'],
    [Array(201).fill('1'), 'too many custom emoji identifiers specified'],
  ] as const
  for (const [ids, description] of cases) {
    t.match(await ask(ids), refused(400, `Bad Request: ${description}`), description)
  }
})

const tgs = gzipSync('{"v":"5.5.7","fr":60,"ip":0,"op":60,"w":512,"h":512,"layers":[]}')
const webm = Buffer.concat([
  Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d4287810442858102', 'hex'),
  Buffer.alloc(200),
])
const withFiles = async (method: string, parameters: object, files: Record<string, Buffer>) =>
  callWithFiles(
    service.url,
    key,
    method,
    { ...parameters },
    Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [name, { bytes, name: `${name}.bin` }]),
    ),
  )
const done = { status: 200, body: { ok: true, result: true } }

t.test('a bot makes a set, changes it and deletes it', async (t) => {
  const name = 'zoo_by_gatebot'
  const still = {
    sticker: 'attach://a',
    format: 'static',
    emoji_list: ['🐶', '🐕'],
    keywords: ['dog'],
  }
  const stickers = [still, { sticker: 'attach://b', format: 'animated', emoji_list: ['🐱'] }]
  const files = { a: await picture(300, 200, '#0a0b0c'), b: tgs, c: webm }
  const set = { user_id: ada.id, name, title: 'Zoo', stickers }
  t.match(await withFiles('createNewStickerSet', set, files), done)
  t.match(
    await withFiles('createNewStickerSet', set, files),
    refused(400, 'Bad Request: sticker set name is already occupied'),
  )
  const film = { sticker: 'attach://c', format: 'video', emoji_list: ['🐭'] }
  t.match(await withFiles('addStickerToSet', { user_id: ada.id, name, sticker: film }, files), done)
  const made = await api.getStickerSet(name)
  t.match(made, { title: 'Zoo', sticker_type: 'regular' })
  t.match(made.stickers, [
    { emoji: '🐶', set_name: name, is_animated: false, is_video: false },
    { emoji: '🐱', is_animated: true },
    { emoji: '🐭', is_video: true },
  ])
  const [dog, cat, mouse] = made.stickers.map(({ file_id }) => file_id) as [string, string, string]
  t.equal(await api.setStickerPositionInSet(mouse, 0), true)
  t.equal(await api.setStickerEmojiList(cat, ['🦁']), true)
  t.equal(await api.setStickerKeywords(cat, ['lion', 'king']), true)
  t.equal(await api.setStickerSetTitle(name, 'Wild'), true)
  t.match(
    await withFiles(
      'setStickerSetThumbnail',
      { user_id: ada.id, name, format: 'static' },
      { thumbnail: files.a },
    ),
    done,
  )
  for (const [format, thumbnail] of [
    ['animated', tgs],
    ['video', webm],
  ] as const) {
    const terms = { user_id: ada.id, name, format }
    t.match(await withFiles('setStickerSetThumbnail', terms, { thumbnail }), done, format)
    const { thumbnail: shown } = (await api.getStickerSet(name)) as { thumbnail?: object }
    t.match(shown, { file_id: String, file_size: thumbnail.length }, format)
  }
  const upload = { user_id: ada.id, sticker_format: 'static' }
  const { body } = await withFiles('uploadStickerFile', upload, {
    sticker: await picture(300, 200, '#f0f1f2'),
  })
  t.match(body.result, { file_id: String, file_unique_id: String, file_size: Number })
  const uploaded = { sticker: body.result.file_id, format: 'static' as const, emoji_list: ['🐻'] }
  const replaced = { user_id: ada.id, name, old_sticker: dog, sticker: uploaded }
  t.match(await client.bot(key, 'replaceStickerInSet', replaced), done)
  const changed = await api.getStickerSet(name)
  t.match(changed, { title: 'Wild', thumbnail: { file_id: String } })
  t.match(
    changed.stickers.map(({ emoji }) => emoji),
    ['🐭', '🐻', '🦁'],
  )
  t.equal(await api.deleteStickerFromSet(cat), true)
  t.equal((await api.getStickerSet(name)).stickers.length, 2)
  t.notMatch(await api.sendSticker(ada.id, cat), { sticker: { set_name: String } })
  t.match(await api.sendSticker(ada.id, mouse), { sticker: { set_name: name } })
  t.equal(await api.deleteStickerSet(name), true)
  const invalid = refused(400, 'Bad Request: STICKERSET_INVALID')
  t.match(await client.bot(key, 'getStickerSet', { name }), invalid)
  t.match(await client.bot(key, 'deleteStickerSet', { name }), invalid)
})

t.test('of two equal stickers in a set one is removed, moved or named at a time', async (t) => {
  const name = 'twins_by_gatebot'
  const twin = (emoji: string) => ({ sticker: 'attach://a', format: 'static', emoji_list: [emoji] })
  const other = { ...twin('🐭'), sticker: 'attach://b' }
  const files = { a: await picture(300, 200, '#1a2b3c'), b: await picture(300, 200, '#3c2b1a') }
  const set = { user_id: ada.id, name, title: 'Twins', stickers: [twin('🐶'), other, twin('🐱')] }
  t.match(await withFiles('createNewStickerSet', set, files), done)
  const emojis = async () => (await api.getStickerSet(name)).stickers.map(({ emoji }) => emoji)
  const { file_id } = (await api.getStickerSet(name)).stickers[0]!
  t.equal(await api.setStickerPositionInSet(file_id, 1), true)
  t.same(await emojis(), ['🐭', '🐶', '🐱'])
  t.equal(await api.setStickerEmojiList(file_id, ['🦁']), true)
  t.same(await emojis(), ['🐭', '🦁', '🐱'])
  t.equal(await api.deleteStickerFromSet(file_id), true)
  t.same(await emojis(), ['🐭', '🐱'])
  t.match(await api.sendSticker(ada.id, file_id), { sticker: { set_name: name, emoji: '🐱' } })
  t.equal(await api.deleteStickerFromSet(file_id), true)
  t.same(await emojis(), ['🐭'])
})

t.test('custom emoji are found by their ids, and one of them is the thumbnail', async (t) => {
  const name = 'TopicIcons_by_gatebot'
  const stickers = [{ sticker: 'attach://a', format: 'static', emoji_list: ['🔥'] }]
  const terms = { user_id: ada.id, name, title: 'Marks', sticker_type: 'custom_emoji' }
  const files = { a: await picture(100, 100, '#aabbcc') }
  t.match(
    await withFiles('createNewStickerSet', { ...terms, stickers, needs_repainting: true }, files),
    done,
  )
  const { sticker_type, stickers: shown } = await api.getStickerSet(name)
  t.equal(sticker_type, 'custom_emoji')
  const [{ custom_emoji_id = '' }] = shown as [(typeof shown)[number]]
  t.match(await api.getCustomEmojiStickers([custom_emoji_id]), [
    { type: 'custom_emoji', emoji: '🔥', custom_emoji_id, needs_repainting: true, set_name: name },
  ])
  t.match(await api.getForumTopicIconStickers(), [{ custom_emoji_id }])
  t.equal(await api.setCustomEmojiStickerSetThumbnail(name, custom_emoji_id), true)
  t.match(await api.getStickerSet(name), { thumbnail: { file_id: String } })
})

t.test('masks say where they are put', async (t) => {
  const name = 'hats_by_gatebot'
  const mask_position = { point: 'forehead', x_shift: 0.5, y_shift: -1, scale: 2 } as const
  const stickers = [{ sticker: 'attach://a', format: 'static', emoji_list: ['🎩'], mask_position }]
  const terms = { user_id: ada.id, name, title: 'Hats', sticker_type: 'mask', stickers }
  t.match(
    await withFiles('createNewStickerSet', terms, { a: await picture(200, 200, '#123123') }),
    done,
  )
  const {
    stickers: [hat],
  } = await api.getStickerSet(name)
  t.match(hat, { type: 'mask', mask_position })
  t.equal(await api.setStickerMaskPosition(hat?.file_id ?? '', undefined), true)
  t.notOk('mask_position' in ((await api.getStickerSet(name)).stickers[0] ?? {}))
})

t.test('what cannot be in a set is refused in plain words', async (t) => {
  const files = { a: await picture(200, 200, '#321321') }
  const sticker = { sticker: 'attach://a', format: 'static', emoji_list: ['🎩'] }
  const make = (more: object, item: object = {}) =>
    withFiles(
      'createNewStickerSet',
      {
        user_id: ada.id,
        name: 'odd_by_gatebot',
        title: 'Odd',
        stickers: [{ ...sticker, ...item }],
        ...more,
      },
      files,
    )
  const cases = [
    [{ name: 'odd' }, {}, 'invalid sticker set name is specified'],
    [{ title: ' ' }, {}, 'invalid sticker set title is specified'],
    [{ user_id: 1 }, {}, 'user not found'],
    [{ stickers: '[' }, {}, "can't parse stickers JSON object"],
    [{ stickers: [] }, {}, 'STICKERS_EMPTY'],
    [{ sticker_type: 'odd' }, {}, 'unsupported sticker type specified'],
    [{}, { emoji_list: [] }, "can't parse InputSticker: emoji list must be non-empty"],
    [{}, { emoji_list: ['x'] }, "can't parse InputSticker: expected a Unicode emoji"],
    [{}, { format: 'odd' }, 'invalid sticker format specified'],
    [{}, { format: 'animated' }, 'STICKER_TGS_NOTGS'],
    [{}, { sticker: 'attach://b' }, "can't parse InputSticker: sticker not found"],
    [{}, { keywords: ['x'.repeat(65)] }, 'KEYWORDS_TOO_LONG'],
  ] as const
  for (const [more, item, problem] of cases) {
    t.match(await make(more, item), refused(400, `Bad Request: ${problem}`), problem)
  }
})

t.test('only the account that made a set changes it', async (t) => {
  const name = 'own_by_gatebot'
  const stickers = [{ sticker: 'attach://a', format: 'static', emoji_list: ['🎩'] }]
  const terms = { user_id: ada.id, name, title: 'Own', stickers }
  t.match(
    await withFiles('createNewStickerSet', terms, { a: await picture(9, 9, '#999999') }),
    done,
  )
  const kim = await client.person('Kim', 'kimbot')
  const { key: other } = await client.key(await client.link(kim))
  const [{ file_id }] = (await client.bot(other, 'getStickerSet', { name })).body.result.stickers
  const invalid = refused(400, 'Bad Request: STICKERSET_INVALID')
  t.match(await client.bot(other, 'deleteStickerFromSet', { sticker: file_id }), invalid)
  t.match(await client.bot(other, 'setStickerSetTitle', { name, title: 'Mine' }), invalid)
  // Whom the bot names does not matter: the set is its own.
  t.match(await client.bot(key, 'setStickerSetThumbnail', { name, user_id: kim.id }), done)
  t.match(
    await client.bot(key, 'setStickerSetThumbnail', { name, user_id: 1 }),
    refused(400, 'Bad Request: user not found'),
  )
  t.equal((await api.getStickerSet(name)).title, 'Own')
  const listed = await client.result('GET', '/sandbox/sticker_sets')
  t.match(
    listed.find((set: { name: string }) => set.name === name),
    { title: 'Own', sticker_type: 'regular', stickers: [{ emoji: '🎩' }] },
  )
})

t.test('stickers come in the parameters of older libraries, too', async (t) => {
  const name = 'older_by_gatebot'
  const png_sticker = await picture(512, 400, '#335577')
  const terms = { user_id: ada.id, name, title: 'Older', emojis: '😍' }
  t.match(await withFiles('createNewStickerSet', terms, { png_sticker }), done)
  const other = { png_sticker: await picture(400, 512, '#775533') }
  t.match(await withFiles('addStickerToSet', { ...terms, emojis: '😊🤔' }, other), done)
  const { stickers } = await api.getStickerSet(name)
  t.match(stickers, [{ emoji: '😍' }, { emoji: '😊' }])
  t.equal(stickers.length, 2)
  const [cup] = (await api.getStickerSet('Cups')).stickers
  const again = { ...terms, emojis: '🥳', png_sticker: cup?.file_id }
  t.match(await client.bot(key, 'addStickerToSet', again), { body: { result: true } })
  const emojis = (await api.getStickerSet(name)).stickers.map(({ emoji }) => emoji)
  t.same(emojis, ['😍', '😊', '🥳'])
  t.match(await withFiles('addStickerToSet', { ...terms, emojis: '' }, other), {
    body: { description: "Bad Request: can't parse png_sticker: emoji list must be non-empty" },
  })
})

t.test('a supergroup has a sticker set', async (t) => {
  await make('Groupies', { '👥': '#010203' })
  const group = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Group',
    owner: bot.id,
  })
  t.equal(await api.setChatStickerSet(group.id, 'groupies'), true)
  t.match(await api.getChat(group.id), { sticker_set_name: 'Groupies', can_set_sticker_set: true })
  t.match(
    await client.bot(key, 'setChatStickerSet', { chat_id: group.id, sticker_set_name: 'None' }),
    refused(400, 'Bad Request: sticker set not found'),
  )
  t.equal(await api.deleteChatStickerSet(group.id), true)
  t.notOk('sticker_set_name' in (await api.getChat(group.id)))
  t.match(
    await client.bot(key, 'deleteChatStickerSet', { chat_id: ada.id }),
    refused(400, 'Bad Request: method is available only for supergroups'),
  )
})
