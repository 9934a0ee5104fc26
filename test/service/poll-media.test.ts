/** What belongs to the parts of a poll on the sandbox: files, places and links; sent, shown, passed on and refused. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { withoutSolution } from '../../src/sandbox/delivery/event-page.ts'
import { callWithFiles, film, picture, soundOf } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t, {
  env: { FFMPEG: '', FILE_URL_ALLOW_PRIVATE: 'true' },
})
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const files = {
  picture: { bytes: await picture() },
  film: { bytes: film },
  song: { bytes: soundOf.mp3 },
  paper: { bytes: Buffer.from('plain words'), name: 'paper.txt' },
}
const question = 'Where?'
const call = (parameters: object, method = 'sendPoll') =>
  callWithFiles(service.url, key, method, { chat_id: ada.id, question, ...parameters }, files)

async function done(parameters: object, method = 'sendPoll') {
  const { body } = await call(parameters, method)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}

const seenBy = async (person: { id: number }, message_id: number) => {
  const { messages } = await client.result('GET', `/sandbox/people/${person.id}/inbox`)
  return messages.find((one: { message_id: number }) => one.message_id === message_id)
}

async function bytesAt(url: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${client.token}` }
  const answer = await fetch(`${service.url}${url}`, { headers })
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

const photo = { type: 'photo', media: 'attach://picture' }
const place = { latitude: 35.7, longitude: 51.4 }
const venue = { type: 'venue', ...place, title: 'Tea house', address: 'Main street 1' }
const option = (text: string, media: object) => ({ text, media })
const inOptions = [
  option('photo', photo),
  option('live', { type: 'live_photo', media: 'attach://film', photo: 'attach://picture' }),
  option('sticker', { type: 'sticker', media: 'attach://picture' }),
  option('video', { type: 'video', media: 'attach://film' }),
  option('animation', { type: 'animation', media: 'attach://film' }),
  option('location', { type: 'location', ...place, live_period: 600 }),
  option('venue', venue),
  option('link', { type: 'link', url: 'https://tea.example/green' }),
  'words alone',
]
const file = { file_id: String, file_unique_id: String }

t.test('options have media of every kind', async (t) => {
  const { poll, message_id } = await done({ options: inOptions })
  const media = poll.options.map((one: { media?: object }) => one.media)
  const expected = [
    { photo: [file] },
    { live_photo: { ...file, photo: [file] } },
    { sticker: file },
    { video: file },
    { animation: file },
    { location: place },
    { venue: { location: place, title: 'Tea house', address: 'Main street 1' } },
    { link: { url: 'https://tea.example/green' } },
  ]
  for (const [at, one] of expected.entries()) {
    t.match(media[at], one)
    t.same(Object.keys(media[at]), Object.keys(one), 'one member alone')
  }
  t.notOk('live_period' in media[5].location, 'a place in a poll stands still')
  t.equal(media[8], undefined)
  const shown = (await seenBy(ada, message_id)).poll
  t.match(shown.options, [
    { media: { media: { type: 'photo' } } },
    { media: { media: { type: 'photo', live: { type: 'video' } } } },
    { media: { media: { type: 'sticker' } } },
    { media: { media: { type: 'video' } } },
    { media: { media: { type: 'animation' } } },
    { media: { location: place } },
    { media: { location: place, venue: { title: 'Tea house' } } },
    { media: { url: 'https://tea.example/green' } },
    { text: 'words alone' },
  ])
  t.same(await bytesAt(shown.options[3].media.media.url), film)
})

t.test('a description and an explanation have them, and updates leave the first out', async (t) => {
  const quiz = {
    ...{ type: 'quiz', correct_option_ids: [0], options: inOptions.slice(0, 2) },
    ...{ description: 'Look', media: { type: 'audio', media: 'attach://song' } },
    ...{ explanation: 'So', explanation_media: { type: 'document', media: 'attach://paper' } },
  }
  const { poll, message_id } = await done(quiz)
  t.match(poll, {
    description: 'Look',
    media: { audio: file },
    explanation_media: { document: { ...file, file_name: 'paper.txt' } },
  })
  const shown = (await seenBy(ada, message_id)).poll
  t.match(shown.media, { media: { type: 'audio' } })
  t.same(await bytesAt(shown.explanation_media.media.url), files.paper.bytes)
  const path = `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${message_id}/vote`
  await client.result('PUT', path, { option_ids: [0] })
  const updates = await done({ timeout: 20 }, 'getUpdates')
  const told = updates.find((one: object) => 'poll' in one).poll
  t.match(told, { id: poll.id, explanation_media: { document: file }, options: [{ media: {} }] })
  t.notOk('media' in told)
})

t.test('a file_id and an address are taken as well', async (t) => {
  const { poll } = await done({ options: ['x'], media: photo })
  const { file_id } = poll.media.photo.at(-1)
  const again = await done({ options: [option('x', { type: 'photo', media: file_id })] })
  t.same(again.poll.options[0].media, poll.media)
  const server = createServer((_, answer) => answer.end(files.picture.bytes)).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.jpg`
  const fetched = await done({ options: [option('x', { type: 'photo', media: url })] })
  t.match(fetched.poll.options[0].media, { photo: [file] })
})

t.test('they go along where the poll is forwarded or copied', async (t) => {
  const { message_id, poll } = await done({ options: inOptions.slice(0, 1), media: venue })
  const from = { from_chat_id: ada.id, message_id }
  t.same((await done(from, 'forwardMessage')).poll, poll)
  const copy = await done(from, 'copyMessage')
  await done({ message_id }, 'deleteMessage')
  const shown = (await seenBy(ada, copy.message_id)).poll
  t.match(shown.media, { venue: { title: 'Tea house' } })
  t.same(await bytesAt(shown.options[0].media.media.url), files.picture.bytes)
})

t.test('an open quiz hides the media of its explanation in groups', async (t) => {
  const text = { text: 'x', entities: [] }
  const link = { kind: 'link', url: 'https://tea.example' } as const
  const terms = { voters: 0, isAnonymous: true, isQuiz: true, isMultiple: false }
  const poll = { ...terms, question: text, options: [], isClosed: false, explanationMedia: link }
  const chat = { native: '-1', surface: 'group' } as const
  const shown = (isClosed: boolean) => {
    const content = { kind: 'poll', poll: { ...poll, isClosed } } as const
    return withoutSolution({ native: '1', chat, at: 0, content }, 'incoming').content
  }
  t.notMatch(shown(false), { poll: { explanationMedia: link } })
  t.match(shown(true), { poll: { explanationMedia: link } })
})

t.test('what does not belong there is refused', async (t) => {
  const options = ['x']
  const parse = "can't parse InputPollMedia: "
  const sticker = { type: 'sticker', media: 'attach://picture' }
  const here = (type: string) => bad(`${parse}type "${type}" can't be used here`)
  t.match(await call({ options, media: sticker }), here('sticker'))
  t.match(await call({ options, media: { type: 'link', url: 'https://a.example' } }), here('link'))
  t.match(
    await call({ options: [option('x', { type: 'document', media: 'attach://paper' })] }),
    here('document'),
  )
  t.match(await call({ options, media: [] }), bad(`${parse}expected an Object`))
  t.match(await call({ options, media: {} }), bad(`${parse}can't find field "type"`))
  t.match(await call({ options, media: { type: 'photo' } }), bad(`${parse}media not found`))
  const far = { type: 'location', latitude: 91, longitude: 0 }
  t.match(await call({ options, media: far }), bad('wrong location specified'))
  const noPage = option('x', { type: 'link', url: 'tea' })
  t.match(await call({ options: [noPage] }), bad('WEBPAGE_URL_INVALID'))
  const absent = option('x', { type: 'photo', media: 'attach://absent' })
  t.match(await call({ options: [absent] }), bad('there is no photo in the request'))
  const { document } = await done({ document: 'attach://paper' }, 'sendDocument')
  const known = option('x', { type: 'video', media: document.file_id })
  const kind = bad("can't use the media of the specified type in the poll")
  t.match(await call({ options: [known] }), kind)
})
