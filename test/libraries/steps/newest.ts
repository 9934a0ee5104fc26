/** Steps: gifts, paid media, live photos, and messages that one member of a group alone sees. */
import { readFile } from 'node:fs/promises'
import { expect, includes } from '../includes.ts'
import type { Stage } from '../stage.ts'
import type { Step } from './step.ts'

const isNumber = (value: unknown) => typeof value === 'number' || /^\d+$/.test(`${value}`)

/** Resolves with the id of a gift that the network has from now on. */
async function newGift({ account: { client, files } }: Stage): Promise<string> {
  const data = (await readFile(files.sticker.upload)).toString('base64')
  const terms = { sticker: { data }, star_count: 10 }
  return (await client.result('POST', '/sandbox/gifts', terms)).id
}

export const newestSteps: readonly Step[] = [
  [
    'gifts that can be given',
    async (stage) => {
      const id = await newGift(stage)
      const { gifts } = await stage.call('getAvailableGifts')
      const gift = gifts.find((one: { id: string }) => one.id === id)
      expect(gift, { id, star_count: 10, sticker: { type: 'regular' } })
    },
  ],
  [
    'gift',
    async (stage) => {
      const gift_id = await newGift(stage)
      const given = { user_id: stage.account.ada.id, gift_id, text: 'For you' }
      expect(await stage.call('sendGift', given), true)
      await stage.sees({ service: 'gift', caption: 'For you' })
    },
  ],
  [
    'paid media',
    async (stage) => {
      const media = [{ type: 'photo', media: stage.account.files.picture }]
      const sent = await stage.send('sendPaidMedia', { star_count: 5, media })
      expect(sent.paid_media, { star_count: 5, paid_media: [{ type: 'photo' }] })
      const { message_id } = sent
      const { paid_media } = await stage.sees({ message_id, paid_media: { star_count: 5 } })
      expect(includes(paid_media.items, [{ media: { type: 'photo' } }]), false, 'seen unpaid')
    },
  ],
  [
    'live photo',
    async (stage) => {
      const { picture: photo, film: live_photo } = stage.account.files
      const sent = await stage.send('sendLivePhoto', { photo, live_photo })
      expect(sent.live_photo, { duration: isNumber, file_id: (id: unknown) => id !== '' })
      await stage.sees({ message_id: sent.message_id, media: { live: { type: 'video' } } })
    },
  ],
  [
    'a message for one member alone',
    async (stage) => {
      const { ada, client } = stage.account
      const chat_id = await stage.group()
      const psst = { chat_id, receiver_user_id: ada.id, text: 'Only for you' }
      const sent = await stage.call('sendMessage', psst)
      expect(sent.ephemeral_message_id, isNumber)
      const inbox = `/sandbox/people/${ada.id}/inbox?chat=${chat_id}`
      const { ephemeral } = await client.result('GET', inbox)
      const seen = ephemeral.find(({ text }: { text?: string }) => text === 'Only for you')
      expect(seen, { receiver: { id: ada.id } })
    },
  ],
]
