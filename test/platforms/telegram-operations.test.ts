/** What an account of Telegram does beyond the contract: files replaced, links, pictures, and those who ask to come in. */
import t, { type Test } from 'tap'
import { operationsOf } from '../../actors/ports/platform.ts'
import type { MediaKind } from '../../machines/model/media.ts'
import type { Operation } from '../../machines/model/operation.ts'
import { capabilities } from '../../src/platforms/telegram/facts.ts'
import { handlers } from '../../src/platforms/telegram/operations/handlers.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { RpcRefusal } from '../support/telegram-dc/data-centre.ts'
import { follow } from '../support/telegram-dc/invites.ts'
import { documentOf } from '../support/telegram-dc/media.ts'
import { reactIn } from '../support/telegram-dc/opinions.ts'
import { sentContent } from './contract/message-operations.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('the listed operations are those that have a handler', async (t) => {
  t.strictSame([...capabilities.operations].sort(), operationsOf(handlers).sort())
})

t.test('Telegram accounts do what they are asked', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const carrying = (kind: MediaKind, text: string, bytes = Buffer.alloc(2_000, text)) => ({
    kind: 'media' as const,
    media: stage.file(kind, bytes),
    caption: { text, entities: [] },
  })
  const inGroup = async (t: Test) => {
    const scene = await live(t, stage)
    const group = network.channel(scene.person, [], false)
    network.delivery.send(scene.friend, group, { message: 'hello' })
    const session = await scene.listen()
    const chat = nativeOfPlace(group)
    const does = (operation: Operation) => perform(session, operation)
    return { ...scene, group, chat, does, session }
  }

  await t.test('what the account is about to do is shown, and ends', async (t) => {
    const { friend, open } = await live(t, stage)
    const session = await open()
    for (const action of ['typing', 'record_voice', 'find_location', 'cancel']) {
      const shown = perform(session, { kind: 'act', chat: `${friend.id}`, action })
      t.match(await shown, { kind: 'done' }, action)
    }
  })

  await t.test('a closed source is not told in the words of the destination', async (t) => {
    const { person, chat, does, store } = await inGroup(t)
    const source = network.channel(person, [], false)
    const id = network.delivery.send(person, source, { message: 'from here' })
    await store.message('from here')
    const passOn = { chat, from: nativeOfPlace(source), message: `${id}` }
    await does({ kind: 'forward', ...passOn })
    network.between = async (name, carryOut) => {
      if (name === 'channels.getMessages') throw new RpcRefusal(400, 'CHANNEL_PRIVATE')
      return carryOut()
    }
    t.teardown(() => {
      network.between = (_, carryOut) => carryOut()
    })
    for (const kind of ['forward', 'copy'] as const) {
      t.match(await refusalOf(does({ kind, ...passOn })), {
        code: 'bad_request',
        description: new RegExp(`^message to ${kind} not found$`),
      })
    }
  })

  await t.test('the file of a message is replaced by another, and by one it has', async (t) => {
    const { friend, open } = await live(t, stage)
    const session = await open()
    const chat = `${friend.id}`
    const { native } = await sentContent(session, chat, carrying('document', 'before'))
    const target = { kind: 'edit', chat, message: native } as const
    const newest = () => [...friend.messages.values()].at(-1)
    const edited = await perform(session, { ...target, content: carrying('photo', 'after') })
    t.match(edited, {
      message: { native, content: { media: { kind: 'photo' }, caption: { text: 'after' } } },
    })
    t.match(newest(), { message: 'after', media: { _: 'messageMediaPhoto' } })

    const { content } = await sentContent(session, chat, carrying('document', 'other'))
    if (content.kind !== 'media') throw new Error('no file')
    const { media } = content
    await perform(session, {
      ...target,
      content: { kind: 'media', media, caption: { text: '', entities: [] }, captionAbove: true },
    })
    const [first] = friend.messages.values()
    t.match(first, { message: '', media: { _: 'messageMediaDocument', document: { size: 2_000 } } })

    const dice = { kind: 'dice', emoji: '🎲', value: 0 } as const
    const failure = await refusalOf(perform(session, { ...target, content: dice }))
    t.match(failure, {
      code: 'bad_request',
      description: /^putting dice into a message is not supported on Telegram$/,
    })
  })

  await t.test(
    'a video keeps its beginning and its cover, and is passed on with another',
    async (t) => {
      const { friend, open } = await live(t, stage)
      const session = await open()
      const chat = `${friend.id}`
      const { media, ...more } = carrying('video', 'film')
      const cover = stage.file('photo', Buffer.alloc(1_500, 'cover'))
      const framed = { ...media, startSeconds: 7, cover }
      const sent = await sentContent(session, chat, { ...more, media: framed })
      t.match(sent.content, { media: { kind: 'video', startSeconds: 7, cover: { kind: 'photo' } } })
      t.match([...friend.messages.values()].at(-1), {
        media: { videoTimestamp: 7, videoCover: { _: 'photo' } },
      })
      const pass = { chat, from: chat, message: sent.native, startSeconds: 9 }
      for (const changes of [
        { kind: 'forward' as const },
        { kind: 'copy' as const },
        { kind: 'copy' as const, caption: { text: 'again', entities: [] } },
      ]) {
        t.match(await perform(session, { ...pass, ...changes }), {
          message: { content: { media: { kind: 'video', startSeconds: 9 } } },
        })
      }
    },
  )

  await t.test('a message is found in its own chat alone', async (t) => {
    const { person, friend, store, open, write } = await live(t, stage)
    const other = network.person()
    network.delivery.send(other, person, { message: 'elsewhere' })
    const before = [...person.messages.keys()].at(-1)!
    const session = await open()
    write('hello')
    await store.message('hello')
    network.delivery.send(other, person, { message: 'and here' })
    await store.message('and here')
    const known = [...person.messages.keys()].at(-1)!
    for (const id of [before, known]) {
      const message = { chat: `${friend.id}`, message: `${id}` }
      t.match(await refusalOf(perform(session, { kind: 'delete', ...message })), {
        description: /^message to delete not found$/,
      })
      const forward = { kind: 'forward', chat: `${friend.id}`, from: `${friend.id}` } as const
      const passedOn = perform(session, { ...forward, message: `${id}` })
      t.match(await refusalOf(passedOn), { description: /^message to forward not found$/ })
    }
    t.equal(other.messages.size, 2)
    const target = { kind: 'delete', chat: `${other.id}` } as const
    for (const id of [before, known]) await perform(session, { ...target, message: `${id}` })
    t.equal(other.messages.size, 0)
  })

  await t.test('live photos keep their film, alone, in albums and in edits', async (t) => {
    const { friend, open } = await live(t, stage)
    const session = await open()
    const chat = `${friend.id}`
    const lively = (text: string) => {
      const { media, ...more } = carrying('photo', text)
      return { ...more, media: { ...media, live: stage.file('video', Buffer.alloc(900, text)) } }
    }
    const film = { livePhoto: true, video: { _: 'document', size: 900 } }
    const newest = () => [...friend.messages.values()].at(-1)
    const { native, content } = await sentContent(session, chat, lively('alone'))
    t.match(content, { media: { kind: 'photo', live: { kind: 'video', size: 900 } } })
    t.match(newest(), { media: film })

    if (content.kind !== 'media') throw new Error('no file')
    const again = { ...content, caption: { text: 'again', entities: [] } }
    t.match(await sentContent(session, chat, again), { content: { media: { live: {} } } })
    t.match(newest(), { message: 'again', media: film })

    const contents = [lively('first'), carrying('photo', 'second')]
    const album = await perform(session, { kind: 'send_album', chat, contents })
    t.match(album, { messages: [{ content: { media: { live: {} } } }, { content: {} }] })
    t.match([...friend.messages.values()].slice(-2), [
      { media: film },
      { media: { livePhoto: undefined } },
    ])

    const target = { kind: 'edit', chat, message: native } as const
    const still = await perform(session, { ...target, content: carrying('photo', 'still') })
    t.match(still, { message: { content: { media: { live: undefined } } } })
    const edited = await perform(session, { ...target, content: lively('moving') })
    t.match(edited, { message: { content: { media: { live: { size: 900 } } } } })
  })

  await t.test('the captions of an album stand above it where that is wanted', async (t) => {
    const { friend, open } = await live(t, stage)
    const session = await open()
    const album = { kind: 'send_album', chat: `${friend.id}` } as const
    const above = { ...carrying('photo', 'first'), captionAbove: true }
    const both = { captionAbove: true }
    const contents = [above, carrying('photo', 'second')]
    const sent = await perform(session, { ...album, contents })
    t.match(sent, { messages: [{ content: both }, { content: both }] })
    t.match([...friend.messages.values()], [{ invertMedia: true }, { invertMedia: true }])
  })

  await t.test('the primary link is replaced by a new one, and when it is revoked', async (t) => {
    const { chat, does, group, person } = await inGroup(t)
    const primary = async () => {
      const made = await does({ kind: 'invite', chat, primary: true })
      if (made.kind !== 'invite') throw new Error('no link')
      return made.invite
    }
    const [first, second] = [await primary(), await primary()]
    t.match(second, {
      isPrimary: true,
      isRevoked: false,
      creator: { native: new RegExp(`^${person.id}$`) },
    })
    t.ok(group.invites.get(first.link)?.revoked)
    const { link } = second
    const revoked = await does({ kind: 'revoke_invite', chat, link })
    t.match(revoked, { invite: { link, isPrimary: true, isRevoked: true } })
    t.equal([...group.invites.values()].filter(({ revoked }) => !revoked).length, 1)
  })

  await t.test('a link has the terms that were named last', async (t) => {
    const { chat, does } = await inGroup(t)
    const expiresAt = Math.floor(Date.now() / 1000) + 3600
    const terms = { name: 'friends', expiresAt, memberLimit: 5 }
    const made = await does({ kind: 'invite', chat, primary: false, ...terms })
    t.match(made, { invite: { ...terms, needsApproval: false } })
    const link = made.kind === 'invite' ? made.invite.link : ''
    const edited = await does({ kind: 'edit_invite', chat, link, needsApproval: true })
    if (edited.kind !== 'invite') throw new Error('no link')
    const { name, memberLimit, needsApproval } = edited.invite
    t.strictSame([name, memberLimit, needsApproval], [undefined, undefined, true])
  })

  await t.test('somebody who asked is turned away, once', async (t) => {
    const { chat, does, group, friend } = await inGroup(t)
    const made = await does({ kind: 'invite', chat, primary: false, needsApproval: true })
    follow(network, friend, made.kind === 'invite' ? made.invite.link : '')
    const decline = { kind: 'answer_join', chat, person: `${friend.id}`, approves: false } as const
    t.match(await does(decline), { kind: 'done' })
    t.notOk(group.members.has(friend.id))
    t.match(await refusalOf(does(decline)), {
      code: 'bad_request',
      description: 'HIDE_REQUESTER_MISSING',
    })
  })

  await t.test('who is no administrator gets no link, and a private chat has none', async (t) => {
    const { friend, person, does, store } = await inGroup(t)
    const other = network.channel(friend, [person], false)
    network.delivery.send(friend, other, { message: 'hello, other' })
    await store.message('hello, other')
    const ask = (chat: string) => refusalOf(does({ kind: 'invite', chat, primary: false }))
    t.match(await ask(nativeOfPlace(other)), { description: 'not enough rights' })
    t.match(await ask(`${friend.id}`), {
      description: /^method is available for group, supergroup and channel chats only$/,
    })
  })

  await t.test('groups get pictures and lose them', async (t) => {
    const { chat, does, group, person, friend, store } = await inGroup(t)
    const small = network.group([person, friend])
    network.delivery.send(friend, small, { message: 'hello, few' })
    await store.message('hello, few')
    for (const [native, place] of [
      [chat, group],
      [nativeOfPlace(small), small],
    ] as const) {
      const photo = stage.file('photo', Buffer.alloc(3_000, 'photo'))
      t.match(await does({ kind: 'set_photo', chat: native, photo }), { kind: 'done' })
      t.equal(place.photo?.sizes.length, 2)
      t.match(await does({ kind: 'set_photo', chat: native }), { kind: 'done' })
      t.notOk(place.photo)
    }
  })

  await t.test("somebody else's reaction is taken back, of a message that is there", async (t) => {
    const { chat, does, group, friend } = await inGroup(t)
    const [id = 0] = group.messages.keys()
    reactIn(network, group, { person: friend, id, emoji: ['👎'] })
    const removal = { kind: 'remove_reaction', chat, person: `${friend.id}` } as const
    t.match(await does({ ...removal, message: `${id}` }), { kind: 'done' })
    t.equal(group.reactions.get(id)?.size, 0)
    const missing = refusalOf(does({ ...removal, message: '999' }))
    t.match(await missing, { description: 'message to react not found' })
    reactIn(network, group, { person: friend, id, emoji: ['👎'] })
    const all = { kind: 'remove_all_reactions', chat, person: `${friend.id}` } as const
    t.match(await does(all), { kind: 'done' })
    t.equal(group.reactions.get(id)?.size, 0)
  })

  await t.test('the music of a profile is listed page by page, and can be fetched', async (t) => {
    const { does, session, friend } = await inGroup(t)
    const asked = { kind: 'profile_audios', person: `${friend.id}`, offset: 0, limit: 10 } as const
    t.strictSame(await does(asked), { kind: 'audios', total: 0, audios: [] })
    const song = (title: string, text: string) =>
      documentOf(network.files, network.files.add(Buffer.alloc(5_000, text)), {
        mimeType: 'audio/mpeg',
        attributes: [{ _: 'documentAttributeAudio', duration: 7, title, performer: 'The Cups' }],
      })
    friend.music = [song('Waltz', 'w'), song('Polka', 'p')]
    const found = await does({ ...asked, offset: 1, limit: 1 })
    t.match(found, {
      total: 2,
      audios: [{ kind: 'audio', title: 'Polka', performer: 'The Cups', durationSeconds: 7 }],
    })
    const [polka] = found.kind === 'audios' ? found.audios : []
    const native = polka && 'native' in polka.file ? polka.file.native : ''
    network.files.reference = Buffer.from('another one')
    const { stream } = await session.session.download(native, 0, AbortSignal.timeout(5_000))
    t.equal(await new Response(stream).text(), 'p'.repeat(5_000))
    friend.music = []
    await t.rejects(session.session.download(native, 0, AbortSignal.timeout(5_000)), {
      message: 'the file is no longer available',
    })
  })

  await t.test('the account shows another name, other words and another picture', async (t) => {
    const { does, person } = await inGroup(t)
    await does({ kind: 'set_name', firstName: 'Ada', lastName: 'Lovelace' })
    await does({ kind: 'set_name', firstName: 'Augusta' })
    await does({ kind: 'set_about', about: 'counts' })
    t.match(person, { firstName: 'Augusta', lastName: 'Lovelace', about: 'counts' })
    const tooLong = refusalOf(does({ kind: 'set_about', about: 'x'.repeat(71) }))
    t.match(await tooLong, { code: 'bad_request', description: 'ABOUT_TOO_LONG' })

    const photos = { kind: 'profile_photos', person: `${person.id}`, offset: 0, limit: 10 } as const
    await does({ kind: 'set_profile_photo', photo: stage.file('photo', Buffer.alloc(500, 'me')) })
    const shown = await does(photos)
    t.match(shown, { total: 1 })
    const [photo] = shown.kind === 'photos' ? shown.photos : []
    await does({ kind: 'set_profile_photo', photo: photo! })
    t.equal(person.photos[0]?.id.toString(), person.photos[1]?.id.toString(), 'the same again')
    await does({ kind: 'set_profile_photo' })
    await does({ kind: 'set_profile_photo' })
    t.match(await does(photos), { total: 0 })

    const still = stage.file('photo', Buffer.alloc(500, 'still'))
    const live = stage.file('animation', Buffer.alloc(700, 'film'))
    await does({ kind: 'set_profile_photo', photo: { ...still, live }, frameAt: 1.5 })
    t.match(person.photos[0]?.videoSizes, [{ _: 'videoSize', videoStartTs: 1.5 }])
  })
})
