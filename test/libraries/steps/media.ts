/** Steps: files of every kind up and down, albums, places and contacts. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect } from '../includes.ts'
import type { Stage, Upload } from '../stage.ts'
import type { Step } from './step.ts'

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const file = { file_id: isText, file_unique_id: isText }

async function sumOf({ upload }: Upload): Promise<string> {
  return createHash('sha256')
    .update(await readFile(upload))
    .digest('hex')
}

/** Sends a file and has the library download the same bytes. */
async function upAndDown(stage: Stage, method: string, kind: string, given: Upload, more = {}) {
  const sent = await stage.send(method, { [kind]: given, ...more })
  expect(sent[kind], file)
  await stage.sees({ message_id: sent.message_id, media: { type: kind } })
  const { sha256 } = await stage.bot.download(sent[kind].file_id)
  expect(sha256, await sumOf(given), 'the file that was downloaded')
  return sent
}

const simple = (method: string, kind: string, name: keyof Stage['account']['files']): Step => [
  `${kind} up and down`,
  async (stage) => {
    await upAndDown(stage, method, kind, stage.account.files[name])
  },
]

export const mediaSteps: readonly Step[] = [
  [
    'photo up and down',
    async (stage) => {
      const given = { photo: stage.account.files.picture, caption: '<i>shore</i>' }
      const sent = await stage.send('sendPhoto', { ...given, parse_mode: 'HTML' })
      const italic = [{ type: 'italic', offset: 0, length: 5 }]
      const wanted = {
        caption: 'shore',
        caption_entities: italic,
        photo: [{ ...file, width: Number.isFinite }],
      }
      expect(sent, wanted)
      await stage.sees({ caption: 'shore', media: { type: 'photo' } })
      expect(await stage.bot.download(sent.photo.at(-1).file_id), { size: isPositive })
      const again = await stage.send('sendPhoto', { photo: sent.photo.at(-1).file_id })
      expect(again.photo, [file])
    },
  ],
  [
    'document up and down',
    async (stage) => {
      const { document } = stage.account.files
      const sent = await upAndDown(stage, 'sendDocument', 'document', document)
      expect(sent.document, { file_name: 'notes.txt', file_size: 12 })
    },
  ],
  simple('sendAudio', 'audio', 'song'),
  simple('sendVoice', 'voice', 'voice'),
  simple('sendVideo', 'video', 'film'),
  simple('sendAnimation', 'animation', 'film'),
  [
    'sticker',
    async (stage) => {
      const { sticker } = await stage.send('sendSticker', { sticker: stage.account.files.sticker })
      expect(sticker, { ...file, type: 'regular', is_animated: false })
      expect(await stage.bot.download(sticker.file_id), { size: isPositive })
    },
  ],
  [
    'album',
    async (stage) => {
      const { picture, other } = stage.account.files
      const media = [
        { type: 'photo', media: picture, caption: 'first' },
        { type: 'photo', media: other },
      ]
      const sent = await stage.send('sendMediaGroup', { media })
      const each = { photo: [file], media_group_id: isText }
      expect(sent, [{ ...each, caption: 'first' }, each])
      expect(sent[1].media_group_id, sent[0].media_group_id)
    },
  ],
  [
    'change a caption and a file',
    async (stage) => {
      const { picture, other } = stage.account.files
      const { message_id } = await stage.send('sendPhoto', { photo: picture, caption: 'old' })
      const change = { message_id, caption: 'new' }
      expect(await stage.send('editMessageCaption', change), { caption: 'new' })
      const media = { type: 'photo', media: other, caption: 'other' }
      const changed = await stage.send('editMessageMedia', { message_id, media })
      expect(changed, { message_id, caption: 'other', photo: [{ ...file, width: isPositive }] })
    },
  ],
  [
    'file heard and downloaded',
    async (stage) => {
      const bytes = Buffer.from('from Ada')
      const media = { type: 'document', data: bytes.toString('base64'), file_name: 'ada.txt' }
      await stage.write({ media: { ...media, caption: 'see' } })
      const wanted = { document: { file_name: 'ada.txt', file_size: 8 }, caption: 'see' }
      const { message } = await stage.bot.hears({ message: wanted })
      const { sha256 } = await stage.bot.download(message.document.file_id)
      expect(sha256, createHash('sha256').update(bytes).digest('hex'))
    },
  ],
  [
    'location',
    async (stage) => {
      const place = { latitude: 35.5, longitude: 51.25 }
      expect(await stage.send('sendLocation', place), { location: place })
      await stage.write({ location: place })
      await stage.bot.hears({ message: { location: place } })
    },
  ],
  [
    'live location',
    async (stage) => {
      const place = { latitude: 1.5, longitude: 2.5 }
      const live = { ...place, live_period: 600 }
      const { message_id } = await stage.send('sendLocation', live)
      const moved = { message_id, latitude: 3.5, longitude: 4.5 }
      const wanted = { location: { latitude: 3.5, longitude: 4.5 } }
      expect(await stage.send('editMessageLiveLocation', moved), wanted)
      expect(await stage.send('stopMessageLiveLocation', { message_id }), wanted)
    },
  ],
  [
    'venue and contact',
    async (stage) => {
      const venue = { latitude: 1.5, longitude: 2.5, title: 'Tea house', address: '1 Road' }
      const wanted = { title: 'Tea house', address: '1 Road', location: { latitude: 1.5 } }
      expect((await stage.send('sendVenue', venue)).venue, wanted)
      const contact = { phone_number: '+15550001', first_name: 'Zoe' }
      expect((await stage.send('sendContact', contact)).contact, contact)
      await stage.write({ contact })
      await stage.bot.hears({ message: { contact } })
    },
  ],
]

const isPositive = (value: unknown) => Number(value) > 0
