/** What people write besides text, how their inboxes show it, and the files behind it, over HTTP. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { picture } from '../service/files.ts'
import { sandboxServer } from './sandbox-rig.ts'

const bytes = Buffer.from('a document of the sandbox')
const document = { type: 'document', data: bytes.toString('base64'), file_name: 'note.txt' }

t.test('a person sends every kind of content, and the other sees it', async (t) => {
  const { app, ask, result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const write = (content: object) =>
    result(`POST /sandbox/people/${ada.id}/messages`, { to: bob.id, ...content })
  const place = { latitude: 35.7, longitude: 51.4 }
  const contents = [
    { media: { ...document, caption: 'read this' } },
    { media: { ...document, type: 'voice', duration: 4 } },
    { location: { ...place, live_period: 600 } },
    { location: place, venue: { title: 'Tower', address: 'West' } },
    { contact: { phone_number: '+15550100', first_name: 'Eve', user_id: bob.id } },
    { poll: { question: 'Tea?', options: ['Yes', 'No'] } },
    { dice: { emoji: '🎲' } },
  ]
  for (const content of contents) await write(content)
  const { messages } = await result(`GET /sandbox/people/${bob.id}/inbox?chat=${ada.id}`)
  t.match(messages.toReversed(), [
    {
      media: { type: 'document', file_name: 'note.txt', file_size: bytes.length },
      caption: 'read this',
    },
    { media: { type: /voice|document/ } },
    { location: { ...place, live_period: 600 } },
    { location: place, venue: { title: 'Tower', address: 'West' } },
    { contact: { phone_number: /^\+15550100$/, first_name: 'Eve', user_id: bob.id } },
    { poll: { question: 'Tea?', options: [{ text: 'Yes', voter_count: 0 }, { text: 'No' }] } },
    { dice: { emoji: '🎲' } },
  ])
  const { media } = messages.at(-1)
  const file = await app.inject({ url: media.url, headers: { 'x-user': '1' } })
  t.equal(file.statusCode, 200)
  t.same(file.rawPayload, bytes)
  t.match(file.headers, {
    'content-length': new RegExp(`^${bytes.length}$`),
    'content-disposition': 'attachment',
  })
  t.equal((await app.inject({ url: media.url })).statusCode, 401)
  t.equal((await ask('GET /sandbox/files/nothing')).status, 400)

  const again = await write({ media: { type: 'document', file: media.file } })
  t.match(again.media, { file: media.file, file_name: 'note.txt' }, 'sent again by its name')
})

t.test('files come from addresses, too, and stay where they are if so wanted', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const image = await picture()
  const server = createServer(({ url }, response) =>
    response.end(url === '/a.jpg' ? image : bytes),
  ).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const media = { type: 'document', url: `http://127.0.0.1:${port}/note.pdf` }
  const photo = { type: 'photo', url: `http://127.0.0.1:${port}/a.jpg` }
  const to = { to: bob.id, protect_content: true }
  const path = `POST /sandbox/people/${ada.id}`
  const answer = await ask(`${path}/messages`, { ...to, media })
  t.match(answer.body.description, 'wrong type of the web page content')
  const fetched = await result(`${path}/messages`, { ...to, media: photo })
  t.match(fetched.media, { type: 'photo', width: 320, height: 240 })
  const sent = await result(`${path}/messages`, { ...to, media: document })
  t.equal(sent.has_protected_content, true)
  const passed = { to: bob.id, from: bob.id, message_id: sent.message_id }
  const refusal = "message has protected content and can't be forwarded"
  t.match((await ask(`${path}/forwards`, passed)).body.description, refusal)
})

t.test('an album is one thing to whoever gets it', async (t) => {
  const { result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const album = ['first', 'second'].map((caption) => ({ ...document, caption }))
  const sent = await result(`POST /sandbox/people/${ada.id}/messages`, { to: bob.id, album })
  t.match(sent.album, [{ caption: 'first' }, { caption: 'second' }])
  const { messages } = await result(`GET /sandbox/people/${bob.id}/inbox?chat=${ada.id}`)
  t.equal(messages.length, 2)
  t.equal(messages[0].media_group_id, messages[1].media_group_id)
  t.match(messages[0].media_group_id, /^\d{15}$/)
})

t.test('messages are changed: captions, files, places, buttons', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const as = `/sandbox/people/${ada.id}`
  const write = (content: object) => result(`POST ${as}/messages`, { to: bob.id, ...content })
  const { message_id } = await write({ media: document })
  const place = `PATCH ${as}/chats/${bob.id}/messages/${message_id}`
  t.match(await result(place, { caption: 'new' }), { caption: 'new', edit_date: Number })
  const other = Buffer.from('another').toString('base64')
  const file = { type: 'document', data: other, file_name: 'other.txt' }
  t.match(await result(place, { media: file }), { media: { file_name: 'other.txt' } })
  const inline_keyboard = [[{ text: 'Yes', callback_data: 'y' }]]
  t.match(await result(place, { inline_keyboard }), { inline_keyboard })
  t.match((await ask(place, { text: 'x' })).body.description, 'there is no text in the message')
  t.match((await ask(place, { text: 'x', caption: 'y' })).body.description, 'one thing is changed')

  const live = await write({ location: { latitude: 1, longitude: 2, live_period: 60 } })
  const moving = `PATCH ${as}/chats/${bob.id}/messages/${live.message_id}`
  const moved = await result(moving, { location: { latitude: 3, longitude: 4 } })
  t.match(moved.location, { latitude: 3, longitude: 4, live_period: 60 })
  const stopped = await result(moving, { location: null })
  t.equal(stopped.location.live_period, undefined)
  t.match((await ask(moving, { location: null })).body.description, "message can't be edited")
})

t.test('people react and vote, and polls end', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const poll = { question: 'Tea?', options: ['Yes', 'No'] }
  const { message_id } = await result(`POST /sandbox/people/${ada.id}/messages`, {
    to: bob.id,
    poll,
  })
  const at = `/sandbox/people/${bob.id}/chats/${ada.id}/messages/${message_id}`
  t.equal(await result(`PUT ${at}/reactions`, { reactions: [{ emoji: '👍' }] }), true)
  t.match(await result(`PUT ${at}/vote`, { option_ids: [1] }), {
    options: [{ voter_count: 0 }, { voter_count: 1 }],
    total_voter_count: 1,
  })
  const { messages } = await result(`GET /sandbox/people/${ada.id}/inbox?chat=${bob.id}`)
  t.match(messages, [
    { reactions: [{ person: { id: bob.id }, emoji: '👍' }], poll: { total_voter_count: 1 } },
  ])
  t.match(await result(`PUT ${at}/vote`, { option_ids: [] }), { total_voter_count: 0 })
  for (const [path, body, refusal] of [
    ['reactions', { reactions: [{ emoji: '🧱' }] }, 'REACTION_INVALID'],
    ['reactions', { reactions: [{ emoji: '👍' }, { emoji: '👎' }] }, 'REACTIONS_TOO_MANY'],
    ['reactions', { reactions: [{}] }, 'REACTION_INVALID'],
    ['vote', { option_ids: [2] }, 'invalid option ID specified'],
    ['vote', { option_ids: [0, 1] }, "can't choose more than 1 option"],
  ] as const) {
    t.match((await ask(`PUT ${at}/${path}`, body)).body.description, refusal)
  }
  t.match((await ask(`DELETE ${at}/vote`)).body.description, "poll can't be stopped")
  const own = `/sandbox/people/${ada.id}/chats/${bob.id}/messages/${message_id}`
  t.match(await result(`DELETE ${own}/vote`), { is_closed: true })
  t.match((await ask(`DELETE ${own}/vote`)).body.description, 'poll has already been closed')
  t.match(
    (await ask(`PUT ${at}/vote`, { option_ids: [0] })).body.description,
    "can't answer closed",
  )
})

t.test('files, places and pages belong to the parts of a poll', async (t) => {
  const { result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const place = { latitude: 35.7, longitude: 51.4 }
  const photo = { type: 'photo', data: (await picture()).toString('base64') }
  const poll = {
    question: 'Where?',
    media: { media: document },
    options: [
      { text: 'Here', media: { media: photo } },
      { text: 'There', media: { location: place, venue: { title: 'Tower', address: 'West' } } },
      { text: 'On a page', media: { url: 'https://tea.example/' } },
      'Nowhere',
      { text: 'Anywhere' },
    ],
    type: 'quiz',
    correct_option_ids: [0],
    explanation: 'Look',
    explanation_media: { location: place },
  }
  await result(`POST /sandbox/people/${ada.id}/messages`, { to: bob.id, poll })
  const { messages } = await result(`GET /sandbox/people/${bob.id}/inbox?chat=${ada.id}`)
  t.match(messages[0].poll, {
    question: 'Where?',
    media: { media: { type: 'document', file_name: 'note.txt' } },
    options: [
      { text: 'Here', media: { media: { type: 'photo' } } },
      { text: 'There', media: { location: place, venue: { title: 'Tower' } } },
      { text: 'On a page', media: { url: 'https://tea.example/' } },
      { text: 'Nowhere', media: undefined },
      { text: 'Anywhere', media: undefined },
    ],
  })
  const own = await result(`GET /sandbox/people/${ada.id}/inbox?chat=${bob.id}`)
  t.match(own.messages[0].poll, { explanation: 'Look', explanation_media: { location: place } })
})

const PLACE = { latitude: 1, longitude: 2 }
const VENUE = { title: 'Tower', address: 'West' }
const PAGE = 'https://tea.example/'
const ONE_THING = 'a part of a poll has one thing: media, location or url'
const NOT_HERE = "can't use the media of the specified type in the poll"
const asking = (more: object) => ({ poll: { question: 'Tea?', options: ['Yes'], ...more } })

t.test('what is no content is refused', async (t) => {
  const { ask, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const quiz = { question: 'Tea?', options: ['Yes'], type: 'quiz' }
  const sticker = { type: 'sticker', data: (await picture()).toString('base64') }
  for (const [content, refusal] of [
    [{}, 'a message carries one thing'],
    [{ text: 'x', dice: {} }, 'a message carries one thing'],
    [{ media: { type: 'photo' } }, 'media needs "data", "url" or "file"'],
    [{ media: { type: 'photo', file: 'none' } }, 'wrong file identifier/HTTP URL specified'],
    [{ media: { type: 'document', data: '' } }, 'file must be non-empty'],
    [{ dice: { emoji: '🧱' } }, 'wrong dice emoji specified'],
    [{ poll: quiz }, 'wrong correct option identifier specified'],
    [asking({ media: {} }), ONE_THING],
    [asking({ media: { url: PAGE, location: PLACE } }), ONE_THING],
    [asking({ media: { url: PAGE, venue: VENUE } }), ONE_THING],
    [asking({ media: { url: PAGE } }), NOT_HERE],
    [asking({ media: { media: sticker } }), NOT_HERE],
    [asking({ options: [{ text: 'A', media: { media: document } }] }), NOT_HERE],
    [
      asking({ options: [{ text: 'A', media: { url: 'ftp://a.example' } }] }),
      'WEBPAGE_URL_INVALID',
    ],
    [{ text: 'x', poll: { question: 'Tea?', options: ['Yes'] } }, 'a message carries one thing'],
  ] as const) {
    const { body } = await ask(`POST /sandbox/people/${ada.id}/messages`, {
      to: bob.id,
      ...content,
    })
    t.match(body.description, refusal)
  }
})
