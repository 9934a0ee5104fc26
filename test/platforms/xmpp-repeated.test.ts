/** A send that another session may have carried out: the archive says whether it has to be sent, and silence is no answer. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Element, xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import type { Operation } from '../../machines/model/operation.ts'
import { SentRequests } from '../../src/platforms/kit/sent-requests.ts'
import type { Archive, ArchivePage, PageRange } from '../../src/platforms/xmpp/archive.ts'
import { Lookup } from '../../src/platforms/xmpp/lookup.ts'
import { patience, type Run } from './contract/recorder.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene, stopArchive } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const { skip } = serverUnderTest()
const newId = (): string => crypto.randomUUID()

const repeat = ({ session }: Run, operation: Operation, requestId = newId()) =>
  session.perform(operation, requestId, patience(), true)

async function repeatedMessage(run: Run, operation: Operation, requestId?: string) {
  const result = await repeat(run, operation, requestId)
  if (result.kind !== 'message') throw new Error('a send resolves with the message')
  return result.message
}

const hidingPeople = `<query xmlns="http://jabber.org/protocol/muc#owner"><x xmlns="jabber:x:data" type="submit">
<field var="FORM_TYPE"><value>http://jabber.org/protocol/muc#roomconfig</value></field>
<field var="muc#roomconfig_whois"><value>moderators</value></field></x></query>`

const mayBeSent = { code: 'unavailable', certain: false }

t.test('a send that is repeated on XMPP', { skip }, async (t) => {
  const network = await Network.start(t)

  /** What `first` did is repeated by `second`, which knows nothing of it. */
  async function twoSessions(t: Test) {
    const all = await scene(t, network)
    const { friend, chat } = all
    const next = async () => {
      await all.first.stop()
      return all.open()
    }
    /** All that the friend got with this text, once all has come. */
    const arrived = async (run: Run, body: string, to = chat) => {
      const last = `after ${newId()}`
      await sent(run, to, last)
      await friend.sees((seen) => seen.body === last)
      return friend.seen.filter((seen) => seen.body === body && !seen.carbon)
    }
    return { ...all, next, arrived }
  }

  await t.test('goes to a room once, and is known by the id that the room gave it', async (t) => {
    const { account, friend, first, next, arrived } = await twoSessions(t)
    const room = `${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    const id = newId()
    const before = await perform(first, sending(room, 'hello'), id)
    const second = await next()
    const again = await repeatedMessage(second, sending(room, 'hello'), id)
    t.match(before, { message: { native: again.native, chat: { native: room } } })
    t.equal((await arrived(second, 'hello', room)).length, 1)
    await repeat(second, sending(room, 'lost on its way'))
    t.equal((await arrived(second, 'lost on its way', room)).length, 1)
    const changed = { kind: 'text', text: 'corrected', entities: [] } as const
    await perform(second, { kind: 'edit', chat: room, message: again.native, content: changed })
    await friend.sees(({ body, replaces }) => body === 'corrected' && replaces === id)
  })

  await t.test(
    'goes once to a room in which the account has another name than it wants',
    async (t) => {
      const { account, friend, first, next, arrived } = await twoSessions(t)
      const room = `${account.user}-names@rooms.xmpp.test`
      await friend.join(room, 'friend')
      await friend.ask(room, hidingPeople)
      // The name that the account wants is taken at first.
      const rival = await network.friend()
      await rival.join(room, account.user)
      const id = newId()
      await perform(first, sending(room, 'hello'), id)
      await rival.join(room, 'rival')
      const second = await next()
      // A room that hides its people tells by the name alone whose message it was: the next session takes it again.
      const again = await repeatedMessage(second, sending(room, 'hello'), id)
      t.match(again.content, { text: 'hello' })
      t.equal((await arrived(second, 'hello', room)).length, 1)
    },
  )

  await t.test('is the rest of an album, and uploads no file twice', async (t) => {
    const { friend, chat, first, next } = await twoSessions(t)
    const files = [await network.files.add('photo'), await network.files.add('document')]
    const contents = files.map((media, at) => {
      const caption = { text: `picture ${at}`, entities: [] }
      return { kind: 'media', media, caption } as const
    })
    const id = newId()
    await perform(first, { kind: 'send_album', chat, contents: contents.slice(0, 1) }, id)
    const second = await next()
    const opened = network.files.opened
    const result = await repeat(second, { kind: 'send_album', chat, contents }, id)
    t.match(result, {
      kind: 'messages',
      messages: contents.map(({ caption }) => ({ content: { caption } })),
    })
    t.equal(network.files.opened, opened + 1)
    await friend.sees(({ body }) => body?.endsWith('picture 1') === true)
    t.same(
      friend.seen.filter(({ album }) => album === id).map(({ body }) => body?.slice(-9)),
      ['picture 0', 'picture 1'],
    )
  })

  await t.test('passes a message on once', async (t) => {
    const { account, friend, chat, first, store, next, arrived } = await twoSessions(t)
    friend.send(account.jid, 'worth passing on')
    const original = await store.message('worth passing on')
    if (original.kind !== 'message') throw new Error('no message')
    const message = original.message.native
    const forward = { kind: 'forward', chat, from: chat, message } as const
    const id = newId()
    const before = await perform(first, forward, id)
    const second = await next()
    const again = await repeatedMessage(second, forward, id)
    if (before.kind !== 'message') throw new Error('no message')
    t.same(again, { ...before.message, at: again.at })
    t.equal((await arrived(second, 'worth passing on')).length, 1)
  })

  await t.test('is refused where the archive was told to leave it out', async (t) => {
    const all = await twoSessions(t)
    const { chat, first, next, arrived } = all
    const id = newId()
    await perform(first, sending(chat, 'from before'), id)
    await stopArchive(network, all)
    const second = await next()
    t.match(await refusalOf(repeat(second, sending(chat, 'perhaps'))), mayBeSent)
    await repeat(second, sending(chat, 'from before'), id)
    t.same((await arrived(second, 'perhaps')).length, 0)
    t.same((await arrived(second, 'from before')).length, 1, 'what it has is found')
  })

  await t.test('is refused where it whispers, which servers need not keep', async (t) => {
    const { account, friend, first, next } = await twoSessions(t)
    const room = `${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'hello')
    const second = await next()
    await sent(second, room, 'hello again')
    t.match(await refusalOf(repeat(second, sending(`${room}/friend`, 'perhaps'))), mayBeSent)
  })
})

t.test('a server without an archive cannot say what was sent', { skip }, async (t) => {
  const network = await Network.start(t, { withoutArchive: true })
  const { account, chat, friend, first } = await scene(t, network)
  t.match(await refusalOf(repeat(first, sending(chat, 'perhaps'))), mayBeSent)
  await sent(first, chat, 'for certain')
  await friend.sees(({ body }) => body === 'for certain')
  t.notOk(friend.seen.some(({ body }) => body === 'perhaps'))

  await t.test('but the session waits with what it is sending itself', async (t) => {
    account.relay.silence('answers')
    const id = newId()
    const under = perform(first, sending(chat, 'under way'), id)
    await friend.sees(({ body }) => body === 'under way')
    const again = repeatedMessage(first, sending(chat, 'under way'), id)
    const early = await Promise.race([again.catch((cause) => cause), pause(300)])
    t.equal(early, undefined)
    account.relay.unsilence()
    t.match(await under, { message: { native: (await again).native } })
    await sent(first, chat, 'last')
    await friend.sees(({ body }) => body === 'last')
    t.equal(friend.seen.filter(({ body }) => body === 'under way').length, 1)
  })
})

/** Looks in an archive of full pages, each of which is followed by another. */
function lookupOver(pages: number, keeps = true) {
  const asked: PageRange[] = []
  const page = async (range: PageRange): Promise<ArchivePage> => {
    asked.push(range)
    const message = xml('message', { from: 'me@here.test', id: `sent ${asked.length}` })
    return {
      messages: [{ id: `${asked.length}`, at: 1, message }],
      complete: asked.length >= pages,
    }
  }
  const archive = { page, address: 'me@here.test' } as unknown as Archive
  const lookup = new Lookup(archive, new SentRequests(), {
    isOwn: () => true,
    writer: () => 'me@here.test',
    keepsOwn: async () => keeps,
    byPlace: false,
  })
  return { asked, lookup }
}

t.test(
  'all that was sent since a call can have begun is looked through, and no more',
  async (t) => {
    const { asked, lookup } = lookupOver(3)
    t.equal(await lookup.sent('something else', patience()), undefined)
    t.equal(asked.length, 3)
    const since = Date.now() / 1000 - (asked[0]?.start ?? 0)
    t.ok(since > 3_600 && since < 4 * 3_600, 'a call takes an hour at most')
    t.match(await lookupOver(3).lookup.sent('sent 2', patience()), { id: /^2$/ })
  },
)

t.test('an archive that has more than is read does not say that nothing was sent', async (t) => {
  const { asked, lookup } = lookupOver(Number.POSITIVE_INFINITY)
  t.match(await refusalOf(lookup.sent('something else', patience())), mayBeSent)
  t.ok(asked.length <= 20)
})

t.test('an archive that leaves messages out does not say that nothing was sent', async (t) => {
  t.match(await refusalOf(lookupOver(1, false).lookup.sent('another', patience())), mayBeSent)
  t.match(await lookupOver(1, false).lookup.sent('sent 1', patience()), { id: /^1$/ })
})

/** Looks in an archive of one page. */
function lookupIn(messages: readonly Element[], { complete = true, isOwn = true } = {}) {
  const page = async (): Promise<ArchivePage> => ({
    messages: messages.map((message, at) => ({ id: `${at}`, at, message })),
    complete,
  })
  const archive = { page, address: 'me@here.test' } as unknown as Archive
  return new Lookup(archive, new SentRequests(), {
    isOwn: ({ attrs }) => isOwn && attrs.from === 'me@here.test',
    writer: () => 'me@here.test',
    keepsOwn: async () => true,
    byPlace: false,
  })
}

const kept = (id: string) => xml('message', { from: 'me@here.test', id })

t.test('what is archived with its refusal was not sent', async (t) => {
  const condition = xml('item-not-found', 'urn:ietf:params:xml:ns:xmpp-stanzas')
  const attributes = { from: 'nobody@here.test', id: 'one', type: 'error' }
  const refusal = xml('message', attributes, xml('error', { type: 'cancel' }, condition))
  const lookup = lookupIn([kept('one'), refusal, kept('two')])
  t.match(await refusalOf(lookup.sent('one', patience())), {
    code: 'bad_request',
    certain: undefined,
  })
  t.match(await lookup.sent('two', patience()), { id: /^2$/ })
})

t.test(
  'an archive that ends before it has said all does not say that nothing was sent',
  async (t) => {
    const lookup = lookupIn([], { complete: false })
    t.match(await refusalOf(lookup.sent('one', patience())), mayBeSent)
  },
)

t.test('a message with the id that is not known as the own one leaves it open', async (t) => {
  const lookup = lookupIn([kept('one')], { isOwn: false })
  t.match(await refusalOf(lookup.sent('one', patience())), mayBeSent)
  t.equal(await lookup.sent('another', patience()), undefined)
})
