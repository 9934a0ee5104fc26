/** Polls with files, places and links, as an account of Telegram sends and hears them. */
import t from 'tap'
import { callWithFiles, picture } from '../service/files.ts'
import { until } from '../support/client.ts'
import { photoOf } from '../support/telegram-dc/media.ts'
import { linkOver, serviceOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('media of polls', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await serviceOver(t, stage)
  const { url } = service
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const { key } = await linkOver(client, person)
  const place = { latitude: 35.5, longitude: 51.25 }

  await t.test('go out with their files uploaded before', async (t) => {
    const files = { picture: { bytes: await picture() }, paper: { bytes: Buffer.from('words') } }
    const options = [
      { text: 'a', media: { type: 'photo', media: 'attach://picture' } },
      { text: 'b', media: { type: 'location', ...place } },
      { text: 'c', media: { type: 'link', url: 'https://tea.example/' } },
      'd',
    ]
    const quiz = { type: 'quiz', correct_option_ids: [1] }
    const paper = { type: 'document', media: 'attach://paper' }
    const venue = { type: 'venue', ...place, title: 'Tea house', address: 'Main street 1' }
    const asked = { ...quiz, question: 'Where?', options, media: venue, explanation_media: paper }
    const parameters = { chat_id: friend.id, ...asked, explanation: 'So' }
    const { body } = await callWithFiles(url, key, 'sendPoll', parameters, files)
    t.match(body, {
      ok: true,
      result: {
        poll: {
          options: [
            { text: 'a', media: { photo: [{ file_id: String }] } },
            { text: 'b', media: { location: place } },
            { text: 'c', media: { link: { url: 'https://tea.example/' } } },
            { text: 'd', media: undefined },
          ],
          media: { venue: { location: place, title: 'Tea house' } },
          explanation: 'So',
          explanation_media: { document: { file_id: String } },
        },
      },
    })
    const { file_id } = body.result.poll.explanation_media.document
    const got = await client.bot(key, 'getFile', { file_id })
    const path = `${url}/file/bot${key}/${got.body.result.file_path}`
    t.equal(await (await fetch(path)).text(), 'words')
  })

  await t.test('are heard, and their files can be fetched', async (t) => {
    const photo = photoOf(network.files, network.files.add(Buffer.alloc(900, 'p')))
    const sample = { kind: 'poll', poll: samplePollOf('Mine?') } as const
    const { media } = stage.outgoing(sample)
    if (media._ !== 'messageMediaPoll') throw new Error('a poll is a poll')
    const attachedMedia = { _: 'messageMediaPhoto', photo } as const
    network.delivery.send(friend, person, {
      message: '',
      media: { ...media, attachedMedia },
    })
    const heard = await until(async () => {
      const { body } = await client.bot(key, 'getUpdates', { timeout: 5 })
      return body.result.find((one: { message?: { poll?: object } }) => one.message?.poll)
    }, 60_000)
    const { file_id } = heard.message.poll.media.photo.at(-1)
    const { body } = await client.bot(key, 'getFile', { file_id })
    t.match(body, { ok: true, result: { file_size: 900 } })
  })
})

function samplePollOf(question: string) {
  const text = (words: string) => ({ text: words, entities: [] })
  return {
    question: text(question),
    options: [{ text: text('Yes'), voters: 0 }],
    ...{ voters: 0, isClosed: false, isAnonymous: true, isQuiz: false, isMultiple: false },
  }
}
