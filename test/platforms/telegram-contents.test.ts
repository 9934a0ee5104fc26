/** Contents that bots write and people pass on, as an account of Telegram hears them; and what it changes of itself. */
import { Long, type tl } from '@mtcute/core'
import t from 'tap'
import { documentOf as mediaOf } from '../../src/platforms/telegram/reading/media.ts'
import { refused } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { documentOf, photoOf } from '../support/telegram-dc/media.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

const plain = (text: string): tl.RawTextPlain => ({ _: 'textPlain', text })
const bold = (text: string): tl.RawTextBold => ({ _: 'textBold', text: plain(text) })
const nothing: tl.RawTextEmpty = { _: 'textEmpty' }
const caption = (text: tl.TypeRichText): tl.RawPageCaption => ({
  ...{ _: 'pageCaption', text, credit: nothing },
})

t.test('what no library can hold is not told', async (t) => {
  const attribute = { _: 'documentAttributeVideo', w: 320, h: 240 } as const
  const film = (duration: number, stated: Partial<tl.RawDocument> = {}, measures = {}) => {
    const attributes: tl.TypeDocumentAttribute[] = [{ ...attribute, duration, ...measures }]
    const facts = { accessHash: Long.ZERO, fileReference: new Uint8Array(), date: 1, dcId: 2 }
    const file = { id: Long.ONE, mimeType: 'video/mp4', size: 900, attributes, ...facts }
    return mediaOf({ _: 'document', ...file, ...stated }, { chat: '1', of: 'profile' })
  }
  t.match(film(3.5), { durationSeconds: 3, width: 320, height: 240, size: 900 })
  const infinities = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const impossible of [4_294_967_294, Number.NaN, -1e300, -1, ...infinities]) {
    t.notMatch(film(impossible), { durationSeconds: Number })
  }
  t.notMatch(film(1, {}, { w: -1 }), { width: Number })
  t.notMatch(film(1, { size: -1 }), { size: Number })
  const thumb: tl.TypePhotoSize = {
    ...{ _: 'photoSizeProgressive', type: 'm', w: 9, h: -9, sizes: [] },
  }
  const { thumbnail } = film(1, { thumbs: [thumb] }) ?? {}
  t.match(thumbnail, { width: 9, height: undefined, size: undefined })
})

t.test('an account of Telegram hears what bots write', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend, helper] = [network.person(), network.person(), network.person()]
  const channel = network.channel(friend, [person])
  network.delivery.send(friend, person, { message: 'hello' })
  network.delivery.send(helper, person, { message: 'hello' })
  network.delivery.send(friend, channel, { message: 'hello' })
  const { key } = await linkOver(client, person)
  const ask = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
  let offset = 0
  const heard = (has: string) =>
    until(async () => {
      const { body } = await ask('getUpdates', { offset, timeout: 5, limit: 1 })
      const [update] = body.result
      if (!update) return undefined
      offset = update.update_id + 1
      return has in (update.message ?? {}) ? update.message : undefined
    }, 60_000)
  const send = (draft: Partial<tl.RawMessage>) =>
    network.delivery.send(friend, person, { message: '', ...draft })

  await t.test('the bot by whose inline mode a message came', async (t) => {
    send({ message: 'picked', viaBotId: helper.id })
    t.match(await heard('via_bot'), { text: 'picked', via_bot: { id: helper.id } })
  })

  const photo = photoOf(network.files, network.files.add(Buffer.alloc(900, 'p')))

  await t.test('a game, an invoice and a story', async (t) => {
    const game: tl.RawGame = {
      ...{ _: 'game', id: Long.ONE, accessHash: Long.ONE, shortName: 'chess', photo },
      ...{ title: 'Chess', description: 'Mate in two' },
    }
    const sizeOf = async (file_id: string) =>
      (await ask('getFile', { file_id })).body.result.file_size
    const entities = [{ _: 'messageEntityBold', offset: 4, length: 2 } as const]
    send({ message: 'Ada 42', entities, media: { _: 'messageMediaGame', game } })
    const still = (await heard('game')).game
    t.match(still, {
      ...{ title: 'Chess', description: 'Mate in two', text: 'Ada 42' },
      text_entities: [{ type: 'bold', offset: 4, length: 2 }],
      animation: undefined,
    })
    t.equal(await sizeOf(still.photo.at(-1).file_id), 900)
    const film = network.files.add(Buffer.alloc(1_700, 'f'))
    const video = { _: 'documentAttributeVideo', duration: 3, w: 320, h: 240 } as const
    const isAnimated = { _: 'documentAttributeAnimated' } as const
    for (const attributes of [[video, isAnimated], [video]]) {
      const document = documentOf(network.files, film, { mimeType: 'video/mp4', attributes })
      send({ media: { _: 'messageMediaGame', game: { ...game, document } } })
      const message = await heard('game')
      const { animation, ...others } = message.game
      t.match(animation, { duration: 3, width: 320, height: 240, mime_type: 'video/mp4' })
      t.same(Object.keys(others), ['title', 'description', 'photo'])
      t.equal(await sizeOf(animation.file_id), 1_700)
      const passed = await ask('forwardMessage', {
        ...{ chat_id: friend.id, from_chat_id: friend.id },
        message_id: message.message_id,
      })
      t.match(passed.body.result.game, { title: 'Chess', animation: { duration: 3 } })
    }
    const price = { currency: 'EUR', totalAmount: Long.fromNumber(1_250), startParam: 'tea' }
    const invoice = { title: 'Tea', description: 'A box of it', ...price }
    send({ media: { _: 'messageMediaInvoice', ...invoice } })
    t.same((await heard('invoice')).invoice, {
      ...{ title: 'Tea', description: 'A box of it', currency: 'EUR' },
      ...{ total_amount: 1_250, start_parameter: 'tea' },
    })
    const peer = { _: 'peerChannel', channelId: channel.id } as const
    send({ media: { _: 'messageMediaStory', peer, id: 12 } })
    t.match(await heard('story'), {
      story: { chat: { id: Number(nativeOfPlace(channel)), type: 'channel' }, id: 12 },
    })
  })

  await t.test('paid media: outlines before, and files that can be read after', async (t) => {
    const preview = { _: 'messageExtendedMediaPreview', w: 320, h: 240, videoDuration: 7 } as const
    const bought = {
      _: 'messageExtendedMedia',
      media: { _: 'messageMediaPhoto', photo },
    } as const
    const media: tl.RawMessageMediaPaidMedia = {
      _: 'messageMediaPaidMedia',
      starsAmount: Long.fromNumber(25),
      extendedMedia: [preview, bought, { ...preview, w: -1, videoDuration: -7 }],
    }
    send({ message: 'Look', media })
    const { paid_media, caption } = await heard('paid_media')
    t.equal(caption, 'Look')
    t.match(paid_media, {
      star_count: 25,
      paid_media: [
        { type: 'preview', width: 320, height: 240, duration: 7 },
        { type: 'photo', photo: [{}, { file_id: String }] },
        { type: 'preview', width: undefined, height: 240, duration: undefined },
      ],
    })
    const { file_id } = paid_media.paid_media[1].photo.at(-1)
    const { body } = await ask('getFile', { file_id })
    t.match(body, { ok: true, result: { file_size: 900 } })
  })

  await t.test('a rich message with its blocks', async (t) => {
    const cell = (text: string, more = {}) => ({ _: 'pageTableCell', text: plain(text), ...more })
    const blocks = [
      { _: 'pageBlockTitle', text: plain('Tea') },
      {
        _: 'pageBlockParagraph',
        text: { _: 'textConcat', texts: [plain('Drink '), bold('hot'), plain(' it')] },
      },
      {
        _: 'pageBlockOrderedList',
        items: [
          { _: 'pageListOrderedItemText', text: plain('Boil') },
          { _: 'pageListOrderedItemText', text: plain('Pour'), checkbox: true, checked: true },
        ],
      },
      { _: 'pageBlockBlockquote', text: plain('Ah'), caption: plain('Ada') },
      { _: 'pageBlockPreformatted', text: plain('brew()'), language: 'js' },
      {
        _: 'pageBlockTable',
        title: nothing,
        bordered: true,
        rows: [{ _: 'pageTableRow', cells: [cell('Cup', { header: true }), cell('2')] }],
      },
      { _: 'pageBlockPhoto', photoId: photo.id, caption: caption(plain('A cup')) },
      {
        _: 'pageBlockParagraph',
        text: {
          _: 'textUrl',
          text: plain('more'),
          url: 'https://tea.example',
          webpageId: Long.ZERO,
        },
      },
      { _: 'pageBlockAuthorDate', author: plain('Ada'), publishedDate: 1 },
    ] as tl.TypePageBlock[]
    send({ richMessage: { _: 'richMessage', blocks, photos: [photo], documents: [] } })
    const { rich_message } = await heard('rich_message')
    t.match(rich_message.blocks, [
      { type: 'heading', text: 'Tea', size: 1 },
      { type: 'paragraph', text: ['Drink ', { type: 'bold', text: 'hot' }, ' it'] },
      {
        type: 'list',
        items: [
          { label: '1.', blocks: [{ text: 'Boil' }] },
          { label: '2.', has_checkbox: true, is_checked: true },
        ],
      },
      { type: 'blockquote', blocks: [{ type: 'paragraph', text: 'Ah' }], credit: 'Ada' },
      { type: 'pre', text: 'brew()', language: 'js' },
      {
        type: 'table',
        is_bordered: true,
        cells: [[{ text: 'Cup', is_header: true, align: 'left', valign: 'top' }, { text: /^2$/ }]],
      },
      { type: 'photo', photo: [{}, {}], caption: { text: 'A cup' } },
      { type: 'paragraph', text: { type: 'url', text: 'more', url: 'https://tea.example' } },
    ])
    t.equal(rich_message.blocks.length, 8, 'a block without a text is left out')
    const { file_id } = rich_message.blocks[6].photo.at(-1)
    t.match((await ask('getFile', { file_id })).body, { ok: true, result: { file_size: 900 } })
  })

  await t.test('the account acts for itself without a connection', async (t) => {
    const done = async (method: string, parameters: object = {}) =>
      t.match((await ask(method, parameters)).body, { ok: true, result: true }, method)
    await done('setBusinessAccountName', { first_name: 'Ada', last_name: 'Byron' })
    t.match(person, { firstName: 'Ada', lastName: 'Byron' })
    await done('setBusinessAccountName', { first_name: 'Adelheid' })
    t.match(person, { firstName: 'Adelheid', lastName: '' })
    await done('setBusinessAccountBio', { bio: 'Tea at five' })
    t.equal(person.about, 'Tea at five')
    person.photos = [photo]
    await done('removeBusinessAccountProfilePhoto')
    t.same(person.photos, [])
    t.match(
      await ask('setBusinessAccountProfilePhoto', { photo: { type: 'animated' } }),
      refused(400, 'Bad Request: animation must be uploaded as an InputFile'),
    )
    send({ message: 'read me' })
    const { message_id } = await until(async () => {
      const message = await heard('text')
      return message.text === 'read me' ? message : undefined
    }, 60_000)
    await done('readBusinessMessage', { chat_id: friend.id, message_id })
    t.match(
      await ask('setBusinessAccountBio', { business_connection_id: 'x', bio: 'other' }),
      refused(400, 'Bad Request: business connection not found'),
    )
    t.equal(person.about, 'Tea at five')
  })
})
