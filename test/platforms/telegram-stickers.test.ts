/** A bot makes sticker sets with an account of Telegram, changes them, and sends what is in them. */
import sharp from 'sharp'
import t from 'tap'
import type { MediaService } from '../../src/media/media.ts'
import { callWithFiles, picture } from '../service/files.ts'
import { refused } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { TOPIC_ICONS } from '../support/telegram-dc/stickers.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('sticker sets of an account of Telegram', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const media: Pick<MediaService, 'open'> = {
    open: (...of) => service.gateway.media.service.open(...of),
  }
  const platforms = [stage.platform({ media })]
  const service: Service = await startService(t, {
    platforms,
    env: { FFMPEG: '', PLATFORM_TIMEOUT_MS: '20000' },
  })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  network.delivery.send(friend, person, { message: 'hello' })
  const { key } = await linkOver(client, person)
  const files = {
    tea: { bytes: await picture(512, 300, '#104020') },
    pot: { bytes: await picture(512, 300, '#402010') },
    cup: { bytes: await picture(512, 300, '#204010') },
  }
  const ask = (method: string, parameters: Record<string, unknown>) =>
    JSON.stringify(parameters).includes('attach://')
      ? callWithFiles(service.url, key, method, parameters, files)
      : client.bot(key, method, parameters)
  const done = async (method: string, parameters: Record<string, unknown> = {}) => {
    const { body } = await ask(method, parameters)
    if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
    return body.result
  }
  const user_id = person.id
  const input = (name: string, emoji: string, more: object = {}) => ({
    sticker: `attach://${name}`,
    format: 'static',
    emoji_list: [emoji],
    ...more,
  })
  const make = (name: string, stickers: readonly object[], more: object = {}) =>
    done('createNewStickerSet', { user_id, name, title: `The ${name}`, stickers, ...more })
  const emojisOf = async (name: string) => {
    const { stickers } = await done('getStickerSet', { name })
    return stickers.map(({ emoji }: { emoji: string }) => emoji)
  }

  await t.test('a set is made, shown, sent and downloaded', async (t) => {
    t.equal(
      await make('Tea', [input('tea', '🍵'), input('pot', '🫖', { keywords: ['pot'] })]),
      true,
    )
    const set = await done('getStickerSet', { name: 'Tea' })
    t.match(set, { name: 'Tea', title: 'The Tea', sticker_type: 'regular' })
    t.match(set.stickers, [
      { emoji: '🍵', set_name: 'Tea', type: 'regular', width: 512, file_unique_id: String },
      { emoji: '🫖' },
    ])
    t.equal(network.stickerSets.get('Tea')?.stickers[1]?.item.keywords, 'pot')
    const [{ file_id, file_unique_id }] = set.stickers
    const sent = await done('sendSticker', { chat_id: friend.id, sticker: file_id })
    t.match(sent, { sticker: { file_unique_id } })
    const { file_path } = await done('getFile', { file_id })
    const answer = await fetch(`${service.url}/file/bot${key}/${file_path}`)
    const { format } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata()
    t.equal(format, 'webp')
  })

  await t.test('every change of a set and of its stickers is carried out', async (t) => {
    await make('Cups', [input('tea', '🍵'), input('pot', '🫖')])
    const name = 'Cups'
    t.equal(await done('addStickerToSet', { user_id, name, sticker: input('cup', '🥤') }), true)
    t.same(await emojisOf(name), ['🍵', '🫖', '🥤'])
    const sticker = async (place: number) =>
      (await done('getStickerSet', { name })).stickers[place].file_id
    await done('setStickerPositionInSet', { sticker: await sticker(2), position: 0 })
    t.same(await emojisOf(name), ['🥤', '🍵', '🫖'])
    await done('deleteStickerFromSet', { sticker: await sticker(1) })
    await done('setStickerEmojiList', { sticker: await sticker(1), emoji_list: ['☕'] })
    t.same(await emojisOf(name), ['🥤', '☕'])
    await done('setStickerKeywords', { sticker: await sticker(0), keywords: ['cold', 'cup'] })
    t.equal(network.stickerSets.get(name)?.stickers[0]?.item.keywords, 'cold,cup')
    const old = { user_id, name, old_sticker: await sticker(0) }
    await done('replaceStickerInSet', { ...old, sticker: input('tea', '🧋') })
    t.same(await emojisOf(name), ['🧋', '☕'])
    await done('setStickerSetTitle', { name, title: 'Cups of all' })
    t.equal(network.stickerSets.get(name)?.title, 'Cups of all')
    const thumbnail = 'attach://cup'
    await done('setStickerSetThumbnail', { name, user_id, thumbnail, format: 'static' })
    t.ok(network.stickerSets.get(name)?.thumbnail)
    await done('setStickerSetThumbnail', { name, user_id, format: 'static' })
    t.notOk(network.stickerSets.get(name)?.thumbnail)
    t.equal(await done('deleteStickerSet', { name }), true)
    t.match(await ask('getStickerSet', { name }), refused(400, 'Bad Request: STICKERSET_INVALID'))
  })

  await t.test('masks and custom emoji are made and found', async (t) => {
    const mask_position = { point: 'eyes', x_shift: 0.5, y_shift: -1, scale: 2 }
    await make('Masks', [input('tea', '🎭', { mask_position })], { sticker_type: 'mask' })
    const masks = await done('getStickerSet', { name: 'Masks' })
    t.match(masks, { sticker_type: 'mask', stickers: [{ type: 'mask', mask_position }] })
    const moved = { point: 'chin', x_shift: 0, y_shift: 0, scale: 1 }
    const [{ file_id: sticker }] = masks.stickers
    await done('setStickerMaskPosition', { sticker, mask_position: moved })
    t.match(await done('getStickerSet', { name: 'Masks' }), {
      stickers: [{ mask_position: moved }],
    })
    await make('Emoji', [input('pot', '🫖')], { sticker_type: 'custom_emoji' })
    const emoji = await done('getStickerSet', { name: 'Emoji' })
    const { custom_emoji_id } = emoji.stickers[0]
    t.match(emoji.stickers[0], { type: 'custom_emoji', emoji: '🫖' })
    const found = await done('getCustomEmojiStickers', {
      custom_emoji_ids: [custom_emoji_id, '12345'],
    })
    t.match(found, [{ custom_emoji_id, type: 'custom_emoji', emoji: '🫖' }])
    t.equal(found.length, 1)
    await done('setCustomEmojiStickerSetThumbnail', { name: 'Emoji', custom_emoji_id })
    t.equal(network.stickerSets.get('Emoji')?.thumbnail?.toString(), custom_emoji_id)
    const icons = network.stickerSets.get('Emoji')!
    network.stickerSets.set(TOPIC_ICONS, { ...icons, shortName: TOPIC_ICONS })
    t.match(await done('getForumTopicIconStickers'), [{ emoji: '🫖', type: 'custom_emoji' }])
  })

  await t.test('a sticker that was uploaded before comes into a set', async (t) => {
    const uploaded = await done('uploadStickerFile', {
      user_id,
      sticker: 'attach://tea',
      sticker_format: 'static',
    })
    t.match(uploaded, { file_id: String })
    await make('Uploaded', [{ ...input('tea', '🍵'), sticker: uploaded.file_id }])
    t.same(await emojisOf('Uploaded'), ['🍵'])
  })

  await t.test('a supergroup gets a sticker set, and loses it', async (t) => {
    const group = network.channel(person, [friend], false)
    network.delivery.send(friend, group, { message: 'hello' })
    const chat_id = Number(nativeOfPlace(group))
    // Until its first message came, the account does not know it.
    await until(async () => (await ask('getChat', { chat_id })).body.ok)
    await make('Group', [input('tea', '🍵')])
    const set = { chat_id, sticker_set_name: 'Group' }
    t.equal(await done('setChatStickerSet', set), true)
    t.match(await done('getChat', { chat_id }), {
      sticker_set_name: 'Group',
      can_set_sticker_set: true,
    })
    t.equal(await done('deleteChatStickerSet', { chat_id }), true)
    t.notOk('sticker_set_name' in (await done('getChat', { chat_id })))
  })

  await t.test('a set of somebody else stays as it is', async (t) => {
    const other = { ...network.stickerSets.get('Tea')!, shortName: 'Theirs', owner: friend.id }
    network.stickerSets.set('Theirs', other)
    const invalid = refused(400, 'Bad Request: STICKERSET_INVALID')
    t.match(await ask('deleteStickerSet', { name: 'Theirs' }), invalid)
    t.match(
      await ask('createNewStickerSet', {
        user_id: friend.id,
        name: 'ForHer',
        title: 'x',
        stickers: [input('tea', '🍵')],
      }),
      refused(400, 'Bad Request: sticker sets of other people are not supported on Telegram'),
    )
  })
})
