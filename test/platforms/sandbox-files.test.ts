/** What the sandbox holds of the files it carries, and what it lets go. */
import t from 'tap'
import type { Content } from '../../machines/model/content.ts'
import type { Media } from '../../machines/model/media.ts'
import { fileOwner, fileToSend } from '../support/files.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

const { db, media, online, register, sandbox } = await stage(t)
const { session, person } = await online()
const friend = await register()
const owner = await fileOwner(db)
const caption = { text: '', entities: [] }
const file = () => fileToSend(media, owner, 'document')
const send = (given: Media, chat = friend.id, requestId = crypto.randomUUID()) =>
  perform(
    session,
    { kind: 'send', chat: `${chat}`, content: { kind: 'media', media: given, caption } },
    requestId,
  )
const sentWith = async (content: Content) => {
  const result = await perform(session, { kind: 'send', chat: `${friend.id}`, content })
  if (result.kind !== 'message') throw new Error('a send resolves with the message')
  return result.message
}
const sentTo = async (given: Media) => {
  const result = await send(given)
  if (result.kind !== 'message') throw new Error('a send resolves with the message')
  return result.message
}
const holds = async ({ file }: Media) => {
  const blob = 'blob' in file ? file.blob : file.native
  const rows = await db.query('select from media_hold where blob = $1', [blob])
  return rows.length
}
const place = (native: string) => ({ chat: friend.id, message: Number(native) })

t.test('each message holds its file, until it is deleted', async (t) => {
  const given = await file()
  const { native } = await sentTo(given)
  t.equal(await holds(given), 1)
  await sandbox.actions.forward(person.id, place(native), friend.id)
  const copy = await sandbox.actions.forward(person.id, place(native), friend.id, true)
  t.equal(await holds(given), 3)
  await sandbox.actions.delete(person.id, place(native))
  t.equal(await holds(given), 2)
  t.match(copy.content, { media: { file: { native: String } } })
})

t.test('polls and rich messages hold their files in each message as well', async (t) => {
  const text = { text: 'x', entities: [] }
  const terms = { isClosed: false, isAnonymous: true, isQuiz: false, isMultiple: false }
  const pollWith = (media: Media): Content => ({
    kind: 'poll',
    poll: {
      ...{ question: text, voters: 0, ...terms },
      options: [{ text, voters: 0, media: { kind: 'media', media } }],
    },
  })
  const richWith = (media: Media): Content => ({
    kind: 'rich',
    blocks: [{ type: 'details', blocks: [{ type: 'document', media }] }],
  })
  for (const content of [pollWith, richWith]) {
    const given = await file()
    const { native } = await sentWith(content(given))
    t.equal(await holds(given), 1)
    await sandbox.actions.forward(person.id, place(native), friend.id)
    await sandbox.actions.forward(person.id, place(native), friend.id, true)
    t.equal(await holds(given), 3)
    await sandbox.actions.delete(person.id, place(native))
    t.equal(await holds(given), 2)
  }
})

t.test('a ban and a deleted topic let all files of their messages go', async (t) => {
  const { session: owner, person: founder } = await online()
  const { chat } = await sandbox.chats.create({
    ...{ kind: 'supergroup', title: 'Files', owner: founder.id, members: [person.id] },
    isForum: true,
  })
  const begun = await perform(owner, { kind: 'create_topic', chat: chat.native, name: 'Files' })
  if (begun.kind !== 'topic') throw new Error('a topic is a topic')
  const { native: topic } = begun.topic
  const [deleted, forgotten] = [await file(), await file()]
  const rich = (media: Media) => ({ kind: 'rich' as const, blocks: [{ type: 'document', media }] })
  const write = (media: Media, place: object = {}) =>
    perform(session, { kind: 'send', chat: chat.native, content: rich(media), ...place })
  await write(deleted, { topic })
  await write(forgotten)
  t.same(await Promise.all([deleted, forgotten].map(holds)), [1, 1])
  await perform(owner, { kind: 'delete_topic', chat: chat.native, topic })
  t.same(await Promise.all([deleted, forgotten].map(holds)), [0, 1])
  await perform(owner, {
    ...{ kind: 'ban', chat: chat.native, person: `${person.id}`, deletesMessages: true },
  })
  t.same(await Promise.all([deleted, forgotten].map(holds)), [0, 0])
})

t.test('a file that is sent twice by one request is held once', async (t) => {
  const given = await file()
  const requestId = crypto.randomUUID()
  const first = await send(given, friend.id, requestId)
  t.same(await send(given, friend.id, requestId), first)
  t.equal(await holds(given), 1)
})

t.test('a message that was refused holds nothing', async (t) => {
  const given = await file()
  t.match(await refusalOf(send(given, 999_999_999)), { description: 'chat not found' })
  t.equal(await holds(given), 0)
})

t.test('what nobody held any more can be sent no more', async (t) => {
  const given = await file()
  const message = await sentTo(given)
  await sandbox.actions.delete(person.id, place(message.native))
  await db.query(`delete from media_blob where blob = $1`, [
    'blob' in given.file ? given.file.blob : '',
  ])
  if (message.content.kind !== 'media') throw new Error('not a file')
  const known = message.content.media
  const refusal = { description: 'wrong file identifier/HTTP URL specified' }
  t.match(await refusalOf(send(known)), refusal)
  const native = 'native' in known.file ? known.file.native : ''
  const opening = session.session.download(native, 0, AbortSignal.timeout(5_000))
  t.match(await refusalOf(opening), refusal)
})

t.test(
  'an album that was refused holds nothing, and another process finds a sent one',
  async (t) => {
    const items = [await file(), await file()]
    const contents = items.map((item) => ({ kind: 'media' as const, media: item, caption }))
    const nowhere = { kind: 'send_album', chat: '999999999', contents } as const
    t.match(await refusalOf(perform(session, nowhere)), { description: 'chat not found' })
    t.same(await Promise.all(items.map(holds)), [0, 0])
    const album = { ...nowhere, chat: `${friend.id}` }
    const requestId = crypto.randomUUID()
    const sent = await perform(session, album, requestId)
    t.same(await perform(session, album, requestId), sent)
    const missing = {
      ...contents[0]!,
      media: { kind: 'document' as const, file: { native: 'none' } },
    }
    const broken = { ...album, contents: [contents[0]!, missing] }
    t.match(await refusalOf(perform(session, broken)), {
      description:
        'failed to send message #2 with the error message "wrong file identifier/HTTP URL specified"',
    })
  },
)

t.test('votes at once are all counted', async (t) => {
  const people = await Promise.all(Array.from({ length: 12 }, register))
  const { chat } = await sandbox.chats.create({
    kind: 'supergroup',
    title: 'Voters',
    owner: person.id,
    members: people.map(({ id }) => id),
  })
  const options = ['Yes', 'No'].map((text) => ({ text: { text, entities: [] }, voters: 0 }))
  const poll = {
    ...{ question: { text: 'Tea?', entities: [] }, options, voters: 0, isClosed: false },
    ...{ isAnonymous: true, isQuiz: false, isMultiple: false },
  }
  const [message] = await sandbox.actions.send(person.id, {
    to: Number(chat.native),
    contents: [{ kind: 'poll', poll }],
  })
  const at = { chat: Number(chat.native), message: Number(message!.native) }
  await Promise.all(people.map(({ id }, place) => sandbox.actions.vote(id, at, [place % 2])))
  const [seen] = await sandbox.inboxes.messages(person.id, { chat: at.chat, limit: 1 })
  t.match(seen!.content, { poll: { voters: 12, options: [{ voters: 6 }, { voters: 6 }] } })
})
