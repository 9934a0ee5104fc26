/** Sticker sets: made over the sandbox, found by bots, their stickers sent and downloaded. */
import { Api } from 'grammy'
import sharp from 'sharp'
import t from 'tap'
import { until } from '../support/client.ts'
import { picture } from './files.ts'
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
