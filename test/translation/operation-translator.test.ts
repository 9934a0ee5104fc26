/** Calls on their way to a network with ids of its own, and what comes back: nobody is called by the wrong name. */
import t from 'tap'
import type { Content, Message } from '../../machines/model/content.ts'
import type { RequestFailed } from '../../machines/model/failure.ts'
import type { PublicOperation } from '../../machines/model/operation.ts'
import type { Text } from '../../machines/model/text.ts'
import { IdentityWrites } from '../../src/identities/store.ts'
import { Translator } from '../../src/translation/translator.ts'
import { testFileIds } from '../support/file-ids.ts'
import { stage, written } from '../updates/stage.ts'

const scene = await stage(t)
const credentialId = await scene.credential()
const owned = { credentialId, epoch: 0 }
const translator = new Translator(scene.db, testFileIds, () => 'mapped')
const unresolved = async () => {
  throw new Error('no name is asked for')
}
const native = (operation: PublicOperation): Promise<ReturnType<typeof JSON.parse>> =>
  translator.toNative(credentialId, operation, unresolved)

/** `ada` and her messages are known by their integers. */
const told = await translator.drafts(owned, [written('a', { chat: 'ada' })])
await new IdentityWrites(scene.db).insert(owned, told.chats, told.messages)
told.stored()
const chat = told.chats.find((known) => known.native === 'ada')!.chatId

const mentioning = (person: string): Text => ({
  text: 'you and me',
  entities: [
    { type: 'text_mention', offset: 0, length: 3, person },
    { type: 'bold', offset: 4, length: 3 },
  ],
})
const bold = { type: 'bold', offset: 4, length: 3 }
const inNative = { text: 'you and me', entities: [{ type: 'text_mention', person: 'ada' }, bold] }
const photo = (caption: Text): Content & { kind: 'media' } => ({
  kind: 'media',
  media: { kind: 'photo', file: { native: 'f' } },
  caption,
})

t.test('whoever a text points at is named as the network does', async (t) => {
  const text = mentioning(`${chat}`)
  const send = (content: Content) => native({ kind: 'send', chat, content })
  t.match(await send({ kind: 'text', ...text }), { chat: 'ada', content: inNative })
  t.match(await send(photo(text)), { content: { caption: inNative } })
  const album = await native({ kind: 'send_album', chat, contents: [photo(text), photo(text)] })
  t.match(album.contents, [{ caption: inNative }, { caption: inNative }])
  const poll = {
    question: text,
    options: [{ text, voters: 0 }],
    explanation: text,
    voters: 0,
    isClosed: false,
    isAnonymous: true,
    isQuiz: true,
    isMultiple: false,
  }
  t.match((await send({ kind: 'poll', poll })).content.poll, {
    question: inNative,
    options: [{ text: inNative }],
    explanation: inNative,
  })
  const message = told.messages[0]!.messageId
  t.match(await native({ kind: 'edit_caption', chat, message, caption: text }), {
    message: told.messages[0]!.native,
    caption: inNative,
  })
  t.match(await native({ kind: 'copy', chat, from: chat, message, caption: text }), {
    caption: inNative,
  })
})

t.test('whoever nobody knows is not pointed at', async (t) => {
  for (const person of ['99', '0', 'nobody']) {
    const content = { kind: 'text' as const, ...mentioning(person) }
    const sent = await native({ kind: 'send', chat, content })
    t.same(sent.content.entities, [bold], person)
  }
})

t.test('a network whose ids are the integers gets them as they are', async (t) => {
  const plain = new Translator(scene.db, testFileIds, () => 'integer')
  const content = { kind: 'text' as const, ...mentioning('99') }
  const operation = await plain.toNative(
    credentialId,
    { kind: 'send', chat: 5, content },
    unresolved,
  )
  t.match(operation, { chat: /^5$/, content: { entities: [{ person: /^99$/ }, bold] } })
})

t.test('all whom a result speaks of have an integer', async (t) => {
  const person = (name: string) => ({ native: name, firstName: name })
  const place = { native: 'ada', surface: 'private' as const, firstName: 'Ada' }
  const message = (name: string, more: Partial<Message>): Message => ({
    native: name,
    chat: place,
    from: person('ada'),
    at: 1,
    content: { kind: 'text', ...mentioning('eve') },
    ...more,
  })
  const answered = message(told.messages[0]!.native, {
    from: person('kim'),
    forward: { from: 'person', person: person('joe'), at: 1 },
    content: { kind: 'text', ...mentioning('lea') },
  })
  const shown = JSON.stringify(
    await translator.present(
      owned,
      {
        kind: 'message',
        message: message('b', { replyTo: { native: answered.native, message: answered } }),
      },
      true,
    ),
  )
  t.match(shown, /"reply_to_message"/)
  t.notMatch(shown, /"id":(0|null)\b/)
})

t.test('an old message gets no new number because it is pinned', async (t) => {
  const pinned = (name: string): Message => ({
    native: name,
    chat: { native: 'ada', surface: 'private' },
    at: 1,
    content: { kind: 'text', text: 'x', entities: [] },
  })
  const described = (name: string) =>
    translator.present(
      owned,
      { kind: 'chat', chat: { native: 'ada', surface: 'private', pinned: pinned(name) } },
      false,
    )
  const known = told.messages[0]!
  t.match(await described(known.native), { pinned_message: { message_id: known.messageId } })
  t.notOk('pinned_message' in ((await described('never told')) as object))
})

t.test('a message of a chat that is named is found by the name', async (t) => {
  // The same ids of another account, and a chat that is nobody's.
  const other = await scene.credential()
  const theirs = await translator.drafts({ credentialId: other, epoch: 0 }, [
    written('z', { chat: 'zoe' }),
    written('theirs', { chat: 'ada' }),
  ])
  await new IdentityWrites(scene.db).insert(
    { credentialId: other, epoch: 0 },
    theirs.chats,
    theirs.messages,
  )
  const more = await translator.drafts(owned, [written('b', { chat: 'bob' })])
  await new IdentityWrites(scene.db).insert(owned, more.chats, more.messages)
  more.stored()
  const asked: string[] = []
  const named = (name: string, message: number) =>
    translator.toNative(
      credentialId,
      { kind: 'edit_caption', chat: `@${name}`, message, caption: { text: 'x', entities: [] } },
      async (name) => {
        asked.push(name)
        return { kind: 'chat', chat: { native: name.toLowerCase(), surface: 'private' } }
      },
    )
  const [first, second] = [told.messages[0]!, more.messages[0]!]
  t.match(await named('ada', first.messageId), { chat: 'ada', message: first.native })
  t.match(await named('ADA', first.messageId), { message: first.native }, 'in any letter case')
  t.match(await named('bob', second.messageId), { chat: 'bob', message: second.native })
  const refusal = (asked: Promise<unknown>) =>
    asked.then(
      () => undefined,
      (cause: RequestFailed) => cause.failure.description,
    )
  t.equal(await refusal(named('nobody', first.messageId)), 'message to edit not found')
  t.equal(await refusal(named('ada', 999)), 'message to edit not found')
  t.same(asked, ['ada', 'bob', 'nobody'], 'a name is resolved once')
})

t.test(
  'what was sent just now costs one statement, and calls of one moment share it',
  async (t) => {
    const id = await scene.credential()
    const sender = { credentialId: id, epoch: 0 }
    const { translator, spent } = counting()
    const first = await translator.present(sender, sent('first'), true)
    const { chat } = first as { chat: { id: number } }
    spent()
    await translator.toNative(id, { kind: 'send', chat: chat.id, content: text }, unresolved)
    t.match(await translator.present(sender, sent('second'), true), { message_id: 2 })
    t.equal(spent(), 1)
    const names = Array.from({ length: 50 }, (_, place) => `at once ${place}`)
    const all = await Promise.all(names.map((name) => translator.present(sender, sent(name), true)))
    t.same(
      all.map((one) => (one as { message_id: number }).message_id),
      names.map((_, place) => place + 3),
    )
    const statements = spent()
    t.ok(statements < 10, `${statements} statements`)
  },
)

t.test(
  'a message that was sent before keeps its number, also where it was taken for a new one',
  async (t) => {
    const id = await scene.credential()
    const sender = { credentialId: id, epoch: 0 }
    const before = counting().translator
    for (const name of ['a', 'b', 'c']) await before.present(sender, sent(name), true)
    const { translator } = counting()
    t.match(await translator.present(sender, sent('b'), true), { message_id: 2 })
    t.match(await translator.present(sender, sent('d'), true), { message_id: 4 })
    t.match(await translator.present(sender, sent('a'), true), { message_id: 1 })
  },
)

t.test('an owner of before stores no ids, and costs its neighbours nothing', async (t) => {
  const [lost, kept] = [await scene.credential(), await scene.credential()]
  const { translator } = counting()
  await scene.epoch(lost, 1)
  const outcomes = await Promise.allSettled(
    [lost, kept, lost, kept].map((credentialId, place) =>
      translator.present({ credentialId, epoch: 0 }, sent(`${place}`), true),
    ),
  )
  t.same(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  const rows = await scene.db.query<{ id: number }>(
    'select distinct credential_id as id from message_identity where credential_id = any($1)',
    [[lost, kept]],
  )
  t.same(rows, [{ id: kept }])
})

const text = { kind: 'text', text: 'hello', entities: [] } as const

const sent = (name: string) => ({
  kind: 'message' as const,
  message: {
    native: name,
    chat: { native: 'bob', surface: 'private' as const },
    at: 1,
    content: text,
  },
})

/** A translator of its own, and the statements that it made since it was last asked. */
function counting() {
  let statements = 0
  const db: typeof scene.db = {
    ...scene.db,
    query: (...asked) => {
      statements++
      return scene.db.query<never>(...asked)
    },
  }
  return {
    translator: new Translator(db, testFileIds, () => 'mapped'),
    spent: () => {
      const spent = statements
      statements = 0
      return spent
    },
  }
}
