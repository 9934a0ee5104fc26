/** A bot on an account of Telegram and somebody whose client is Telethon: each reads what the other one writes. */
import { createHash, randomBytes } from 'node:crypto'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { callWithFiles, type Part } from '../service/files.ts'
import { type Client, until } from '../support/client.ts'
import type { Service } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import type { Person } from '../support/telegram-dc/people.ts'
import { Telethon, type TelethonClient, type Told } from '../support/telethon.ts'
import { linkOver, serviceOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

// Its packages may have to be fetched first.
t.setTimeout(600_000)
const telethon = await Telethon.start()
const skip = typeof telethon === 'string' ? telethon : false
if (typeof telethon !== 'string') t.teardown(() => telethon.stop())

/** Whatever the service sends. */
type Json = ReturnType<typeof JSON.parse>
type Update = Record<string, Json>

const POSTS = ['message', 'edited_message', 'channel_post', 'edited_channel_post']
const KINDS = [...POSTS, 'message_reaction', 'poll', 'deleted_messages']

/** A bot whose account is linked to the service, and somebody else on the network. */
class Scene {
  readonly stage: Stage
  readonly service: Service
  readonly client: Client
  readonly key: string
  readonly person: Person
  readonly friend: Person
  readonly foreigner: TelethonClient
  readonly updates: Update[] = []
  #offset = 0

  constructor(
    facts: Pick<Scene, 'stage' | 'service' | 'client' | 'key' | 'person' | 'friend' | 'foreigner'>,
  ) {
    this.stage = facts.stage
    this.service = facts.service
    this.client = facts.client
    this.key = facts.key
    this.person = facts.person
    this.friend = facts.friend
    this.foreigner = facts.foreigner
  }

  async call(method: string, parameters: object = {}, files?: Record<string, Part>): Promise<Json> {
    const given = { chat_id: this.friend.id, ...parameters }
    const { body } = files
      ? await callWithFiles(this.service.url, this.key, method, given, files)
      : await this.client.bot(this.key, method, given)
    if (!body.ok) throw new Error(`${method}: ${body.description}`)
    return body.result
  }

  /** The first update of the kind that matches. */
  update(kind: string, matches: (content: Json) => boolean = () => true): Promise<Json> {
    return until(async () => {
      const parameters = { offset: this.#offset, timeout: 1, allowed_updates: KINDS }
      const { body } = await this.client.bot(this.key, 'getUpdates', parameters)
      for (const update of body.result) {
        this.updates.push(update)
        this.#offset = update.update_id + 1
      }
      return this.updates.map((one) => one[kind]).find((one) => one && matches(one))
    })
  }

  message(text: string, kind = 'message') {
    return this.update(kind, (message) => (message.text ?? message.caption) === text)
  }

  /** What the bot downloads. */
  async fetched(file_id: string): Promise<Buffer> {
    const { file_path } = await this.call('getFile', { file_id })
    const answer = await fetch(`${this.service.url}/file/bot${this.key}/${file_path}`)
    return Buffer.from(await answer.arrayBuffer())
  }

  /** What the foreigner downloads of a message that it heard. */
  async downloaded({ id }: Told): Promise<Buffer> {
    const got = await this.foreigner.ask({ do: 'download', chat: this.bot, message: id })
    return Buffer.from(got, 'base64')
  }

  /** What the foreigner calls the bot. */
  get bot(): string {
    return this.person.username
  }

  says(text: string, fields: object = {}): Promise<Told> {
    return this.foreigner.method('send_message', [this.bot, text], fields)
  }

  sends(names: Record<string, Buffer>, fields: object = {}): Promise<Json> {
    const files = Object.entries(names).map(([name, bytes]) => ({
      name,
      content: { bytes: bytes.toString('base64') },
    }))
    const file = files.length === 1 ? files[0] : files
    return this.foreigner.ask({ do: 'file', chat: this.bot, file, fields })
  }
}

async function scene(t: Test): Promise<Scene> {
  if (typeof telethon === 'string') throw new Error(telethon)
  const stage = await Stage.start(t)
  const { network } = stage
  Object.assign(network.habits, { packs: true, zips: true, shortens: true })
  const service = await serviceOver(t, stage)
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const { credentialId, key } = await linkOver(client, person)
  const settings = { include_channel_updates: true, include_deleted_updates: true }
  await client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, settings)
  const foreigner = await telethon.client(network)
  await foreigner.signIn(friend)
  return new Scene({ stage, service, client, key, person, friend, foreigner })
}

const picture = (background: string) =>
  sharp({ create: { width: 320, height: 240, channels: 3, background } })
    .jpeg()
    .toBuffer()

t.test('a bot and a foreign client talk', { skip, timeout: 120_000 }, async (t) => {
  const one = await scene(t)
  const { foreigner, friend, person, stage } = one
  const { network } = stage

  await t.test('formatted texts', async (t) => {
    await one.says('😀 **bold** __slanted__ `code` [linked](https://example.org/a) ~~gone~~')
    const heard = await one.message('😀 bold slanted code linked gone')
    t.match(heard.from, { id: friend.id, is_bot: false, username: friend.username })
    t.strictSame(heard.entities, [
      { type: 'bold', offset: 3, length: 4 },
      { type: 'italic', offset: 8, length: 7 },
      { type: 'code', offset: 16, length: 4 },
      { type: 'text_link', offset: 21, length: 6, url: 'https://example.org/a' },
      { type: 'strikethrough', offset: 28, length: 4 },
    ])
    const text =
      '👩‍👩‍👧 <b>bold <i>both</i></b> <u>under</u> <tg-spoiler>hidden</tg-spoiler> ' +
      '<pre><code class="language-go">x := 1</code></pre> <a href="https://example.org/b">b</a> ' +
      `<a href="tg://user?id=${friend.id}">you</a> <blockquote expandable>said</blockquote>`
    await one.call('sendMessage', { text, parse_mode: 'HTML' })
    const read = await foreigner.hears('👩‍👩‍👧 bold both under hidden x := 1 b you said')
    t.strictSame(
      new Set(read.pieces?.map(([kind, piece]) => `${kind} ${piece}`)),
      new Set([
        'MessageEntityBold bold ',
        'MessageEntityBold both',
        'MessageEntityItalic both',
        'MessageEntityUnderline under',
        'MessageEntitySpoiler hidden',
        'MessageEntityPre x := 1',
        'MessageEntityTextUrl b',
        'MessageEntityMentionName you',
        'MessageEntityBlockquote said',
      ]),
    )
    const entities: Told[] = read.heard!.entities
    t.match(
      entities.find(({ _ }) => _ === 'MessageEntityPre'),
      { language: 'go' },
    )
    t.match(
      entities.find(({ _ }) => _ === 'MessageEntityMentionName'),
      { user_id: friend.id },
    )
    t.match(
      entities.find(({ _ }) => _ === 'MessageEntityBlockquote'),
      { collapsed: true },
    )
  })

  await t.test('answers and quotes', async (t) => {
    const said = await one.says('what about some tea?')
    const heard = await one.message('what about some tea?')
    const quote = { quote: 'tea', quote_position: 16 }
    const reply_parameters = { message_id: heard.message_id, ...quote }
    const answer = await one.call('sendMessage', { text: 'gladly', reply_parameters })
    const read = await foreigner.hears('gladly')
    t.match(read.heard?.reply_to, { reply_to_msg_id: said.id, quote_text: 'tea', quote: true })
    const reply_to = { _: 'InputReplyToMessage', reply_to_msg_id: read.heard?.id }
    await foreigner.raw('messages.SendMessage', {
      peer: one.bot,
      message: 'then come',
      reply_to: { ...reply_to, quote_text: 'glad', quote_offset: 0 },
    })
    t.match(await one.message('then come'), {
      reply_to_message: { message_id: answer.message_id },
      quote: { text: 'glad', position: 0, is_manual: true },
    })
  })

  await t.test('edits and deletions', async (t) => {
    const { id } = await one.says('frist')
    const heard = await one.message('frist')
    await foreigner.method('edit_message', [one.bot, id, 'the **first**'])
    const edited = await one.message('the first', 'edited_message')
    t.match(edited, {
      message_id: heard.message_id,
      entities: [{ type: 'bold', offset: 4, length: 5 }],
    })
    await foreigner.method('delete_messages', [one.bot, [id]])
    const gone = await one.update('deleted_messages', ({ message_ids }) =>
      message_ids.includes(heard.message_id),
    )
    t.match(gone.chat, { id: friend.id })

    const { message_id } = await one.call('sendMessage', { text: 'secnod' })
    const read = await foreigner.hears('secnod')
    const change = { message_id, text: 'the <i>second</i>', parse_mode: 'HTML' }
    await one.call('editMessageText', change)
    const told = await foreigner.told(
      'UpdateEditMessage',
      ({ message }) => message.id === read.heard?.id,
    )
    t.match(told.message, {
      message: 'the second',
      entities: [{ _: 'MessageEntityItalic', offset: 4, length: 6 }],
    })
    const same = await one.client.bot(one.key, 'editMessageText', {
      chat_id: friend.id,
      ...change,
    })
    t.match(same.body, {
      error_code: 400,
      description: /^Bad Request: message is not modified.*$/,
    })
    await one.call('editMessageText', { message_id, text: 'the second' })
    await foreigner.told(
      'UpdateEditMessage',
      ({ message }) => message.id === read.heard?.id && !message.entities?.length,
    )
    await one.call('deleteMessage', { message_id })
    await foreigner.told('UpdateDeleteMessages', ({ messages }) =>
      messages.includes(read.heard?.id),
    )
  })

  await t.test('files and albums', async (t) => {
    const content = randomBytes(700_000)
    await one.sends({ 'mine.bin': content }, { caption: 'mine', force_document: true })
    const { document } = await one.message('mine')
    t.match(document, { file_name: 'mine.bin', file_size: content.length })
    t.ok((await one.fetched(document.file_id)).equals(content))
    const yours = randomBytes(1_500_000)
    const file = { document: { name: 'yours.bin', bytes: yours } }
    await one.call('sendDocument', { caption: 'yours' }, file)
    const { heard } = await foreigner.hears('yours')
    const attributes = [{ _: 'DocumentAttributeFilename', file_name: 'yours.bin' }]
    t.match(heard?.media.document, { size: yours.length, attributes })
    t.equal(sum(await one.downloaded(heard!)), sum(yours))

    const [red, blue] = [await picture('#ff0000'), await picture('#0000ff')]
    await one.sends({ 'red.jpg': red, 'blue.jpg': blue }, { caption: ['red', 'blue'] })
    const [first, second] = [await one.message('red'), await one.message('blue')]
    t.ok(first.media_group_id)
    t.equal(first.media_group_id, second.media_group_id)
    t.ok((await one.fetched(second.photo.at(-1).file_id)).equals(blue))
    const media = ['red', 'blue'].map((name) => ({
      type: 'photo',
      media: `attach://${name}`,
      caption: `a ${name} one`,
    }))
    const parts = { red: { bytes: red, name: 'r.jpg' }, blue: { bytes: blue, name: 'b.jpg' } }
    await one.call('sendMediaGroup', { media }, parts)
    const seen = [await foreigner.hears('a red one'), await foreigner.hears('a blue one')]
    const [albums] = [new Set(seen.map(({ heard }) => heard?.grouped_id))]
    t.equal(albums.size, 1)
    t.ok([...albums][0])
    t.ok((await one.downloaded(seen[0]!.heard!)).equals(red))
  })

  await t.test('opinions and polls', async (t) => {
    const said = await one.says('how was it?')
    const heard = await one.message('how was it?')
    const { message_id } = heard
    await one.call('setMessageReaction', {
      message_id,
      reaction: [{ type: 'emoji', emoji: '👍' }],
    })
    const told = await foreigner.told(
      'UpdateEditMessage',
      ({ message }) => message.id === said.id && message.reactions,
    )
    t.match(told.message.reactions.results, [{ reaction: { emoticon: '👍' }, count: 1 }])
    const peer = one.bot
    const reaction = [{ _: 'ReactionEmoji', emoticon: '🔥' }]
    await foreigner.raw('messages.SendReaction', { peer, msg_id: said.id, reaction })
    t.match(await one.update('message_reaction'), {
      message_id,
      user: { id: friend.id },
      old_reaction: { length: 0 },
      new_reaction: [{ type: 'emoji', emoji: '🔥' }],
    })
    const options = [{ text: 'yes' }, { text: 'no' }]
    const sent = await one.call('sendPoll', { question: 'Tea?', options })
    const read = await foreigner.until(({ heard }) => heard?.media?.poll && heard)
    t.match(read.media.poll, { question: { text: 'Tea?' }, answers: [{}, {}] })
    const [, no] = read.media.poll.answers
    const chosen = [{ bytes: no.option }]
    await foreigner.raw('messages.SendVote', { peer, msg_id: read.id, options: chosen })
    t.match(await one.update('poll', ({ total_voter_count }) => total_voter_count === 1), {
      id: sent.poll.id,
      options: [
        { text: 'yes', voter_count: 0 },
        { text: 'no', voter_count: 1 },
      ],
    })
    t.match(await one.call('stopPoll', { message_id: sent.message_id }), { is_closed: true })
    await foreigner.told(
      'UpdateEditMessage',
      ({ message }) => message.id === read.id && message.media.poll.closed,
    )
  })

  await t.test('what is passed on, shown and typed', async (t) => {
    const ids = []
    for (const text of ['one of two', 'two of two']) ids.push((await one.says(text)).id)
    await foreigner.method('forward_messages', [one.bot, ids, one.bot])
    const passed = await one.update(
      'message',
      ({ text, forward_origin }) => text === 'two of two' && forward_origin,
    )
    t.match(passed.forward_origin, { type: 'user', sender_user: { id: friend.id } })
    const { message_id } = await one.message('one of two')
    await one.call('forwardMessage', { from_chat_id: friend.id, message_id })
    const back = await foreigner.until(
      ({ heard }) => heard?.message === 'one of two' && !heard.out && heard,
    )
    t.match(back.fwd_from, { from_id: { user_id: friend.id } })

    await one.call('sendLocation', { latitude: 35.7, longitude: 51.4 })
    const place = await foreigner.until(({ heard }) => heard?.media?.geo && heard)
    t.match(place.media.geo, { lat: 35.7, long: 51.4 })
    await one.call('sendContact', { phone_number: '+15550100', first_name: 'Ada' })
    const card = await foreigner.until(({ heard }) => heard?.media?.phone_number && heard)
    t.match(card.media, { phone_number: /^\+15550100$/, first_name: 'Ada' })
    const dice = { _: 'InputMediaDice', emoticon: '🎲' }
    await foreigner.method('send_file', [one.bot, dice])
    t.match(await one.update('message', ({ dice }) => dice), { dice: { emoji: '🎲', value: 4 } })
    await one.call('sendChatAction', { action: 'typing' })
    t.match(await foreigner.told('UpdateUserTyping'), {
      user_id: person.id,
      action: { _: 'SendMessageTypingAction' },
    })
  })

  await t.test('supergroups and topics', async (t) => {
    const group = network.channel(person, [friend], false)
    group.isForum = true
    const chat_id = Number(nativeOfPlace(group))
    const peer = { _: 'PeerChannel', channel_id: group.id }
    network.delivery.send(person, group, { message: 'welcome' })
    await foreigner.hears('welcome')
    await foreigner.method('send_message', [peer, 'hello, all'])
    const heard = await one.message('hello, all')
    t.match(heard, { chat: { id: chat_id, type: 'supergroup' }, from: { id: friend.id } })
    const topic = await one.call('createForumTopic', { chat_id, name: 'Tea' })
    const made = await foreigner.told(
      'UpdateNewChannelMessage',
      ({ message }) => message.action?._ === 'MessageActionTopicCreate',
    )
    const { message_thread_id } = topic
    const sent = await one.call('sendMessage', { chat_id, message_thread_id, text: 'here' })
    const here = await foreigner.hears('here')
    t.match(here.heard?.reply_to, { forum_topic: true, reply_to_msg_id: made.message.id })
    await foreigner.method('send_message', [peer, 'me too'], { reply_to: here.heard?.id })
    const answered = await one.message('me too')
    t.match(answered, { message_thread_id, is_topic_message: true })
    t.equal(answered.reply_to_message.message_id, sent.message_id)
  })

  await t.test('breaks on either side', async (t) => {
    network.cut(person, 1_000)
    const { id } = await one.says('while you were away')
    await foreigner.method('edit_message', [one.bot, id, 'while you were out'])
    t.ok(await one.message('while you were out', 'edited_message'))
    network.changeSalts()
    for (const connection of network.connectionsOf(friend)) connection.cut()
    await one.call('sendMessage', { text: 'while you slept' })
    // It notices what it has missed when it hears of something else.
    await until(() => foreigner.method('get_me').catch(() => false))
    await one.call('sendMessage', { text: 'good morning' })
    await foreigner.hears('good morning')
    await foreigner.hears('while you slept')
    const heard = foreigner.lines.filter((line) => line.heard?.message === 'while you slept')
    t.equal(heard.length, 1)
  })
})

const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
