/** Integers for native ids: the same for ever, ascending in a chat, stored with the events that introduced them. */

import t from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { isIdentityConflict } from '../../src/database/failures.ts'
import { forgetOldMessages, IdentityWrites } from '../../src/identities/store.ts'
import { Translator } from '../../src/translation/translator.ts'
import { commit } from '../../src/updates/commit.ts'
import { testFileIds } from '../support/file-ids.ts'
import { type Stage, stage, written } from '../updates/stage.ts'

interface Told {
  readonly chat: number
  readonly message: number
}

/** What a translator makes of these, as ids; `store` says whether the commit went through. */
async function ids(
  { db }: Stage,
  translator: Translator,
  credentialId: number,
  happenings: readonly Happening[],
  store = true,
): Promise<Told[]> {
  const owned = { credentialId, epoch: 0 }
  const translate = async () => {
    const translated = await translator.drafts(owned, happenings)
    if (!store) return translated.drafts
    await new IdentityWrites(db).insert(owned, translated.chats, translated.messages)
    translated.stored()
    return translated.drafts
  }
  // As the log does: messages that were taken for new ones are looked up.
  const drafts = await translate().catch((cause) => {
    if (!isIdentityConflict(cause)) throw cause
    translator.forget(credentialId)
    return translate()
  })
  return drafts.map(({ payload }) => {
    const { message, channel_post: { chat, message_id } = message } = JSON.parse(`{${payload}}`)
    return { chat: chat.id, message: message_id }
  })
}

const translator = ({ db }: Stage) => new Translator(db, testFileIds, () => 'mapped')

t.test('ids stay what they are over restarts and ascend in each chat', async (t) => {
  const scene = await stage(t)
  const id = await scene.credential()
  const first = translator(scene)
  const events = ['a', 'b', 'c'].map((key) => written(key))
  const before = await ids(scene, first, id, events)
  t.same(
    before.map(({ message }) => message),
    [1, 2, 3],
  )
  const again = translator(scene)
  t.same(await ids(scene, again, id, events), before)
  const [other] = await ids(scene, again, id, [written('d', { chat: 'bob' })])
  t.equal(other?.message, 1)
  t.not(other?.chat, before[0]?.chat)
  t.same(await ids(scene, again, id, [written('e')]), [{ chat: before[0]?.chat, message: 4 }])
})

t.test(
  'a restarted node refuses a forgotten message and counts on where the chat was',
  async (t) => {
    const scene = await stage(t)
    const id = await scene.credential()
    const [first] = await ids(scene, translator(scene), id, [written('a'), written('b')])
    const chat = first?.chat ?? 0
    await scene.db.query('update message_identity set given_on = current_date - 31')
    t.equal(await forgetOldMessages(scene.db, 30), 1)

    const restarted = translator(scene)
    const remove = (message: number) =>
      restarted.toNative(id, { kind: 'delete', chat, message }, async () => {
        throw new Error('a number needs no look-up')
      })
    await t.rejects(remove(1), { message: /message to delete not found/ })
    t.match(await remove(2), { message: 'b' })
    t.same(
      await ids(scene, restarted, id, [written('c'), written('a')]),
      [3, 4].map((message) => ({ chat, message })),
      'no number is given twice, also not to the message that was forgotten',
    )
  },
)

t.test('the id of a chat says of which kind it is, as those of the reference do', async (t) => {
  const scene = await stage(t)
  const id = await scene.credential()
  const book = translator(scene)
  const surfaces = ['private', 'group', 'supergroup', 'channel'] as const
  const events = surfaces.map((surface): Happening => {
    const event = written(surface, { chat: surface })
    if (event.kind !== 'message' || surface === 'private') return event
    const chat = { native: surface, surface, title: surface }
    return { ...event, message: { ...event.message, chat } }
  })
  const [one, group, supergroup, channel] = (await ids(scene, book, id, events)).map(
    ({ chat }) => chat,
  ) as [number, number, number, number]
  t.strictSame([group, supergroup, channel], [-one - 1, -1e12 - one - 2, -1e12 - one - 3])
})

t.test('the same chat has another id for another credential', async (t) => {
  const scene = await stage(t)
  const book = translator(scene)
  const [one] = await ids(scene, book, await scene.credential(), [written('a')])
  const [two] = await ids(scene, book, await scene.credential(), [written('a')])
  t.not(one?.chat, two?.chat)
})

t.test('no native id gets two integers, however many ask at once', async (t) => {
  const scene = await stage(t)
  const id = await scene.credential()
  const book = translator(scene)
  const asked = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      ids(
        scene,
        book,
        id,
        [n, n + 1, n + 2].map((key) => written(`m${key % 20}`, { chat: `chat${(key % 20) % 3}` })),
      ).then((told) => told.map((one, place) => [`m${(n + place) % 20}`, one] as const)),
    ),
  )
  const known = new Map<string, string>()
  for (const [native, one] of asked.flat()) {
    const told = JSON.stringify(one)
    t.equal(known.get(native) ?? told, told, native)
    known.set(native, told)
  }
  t.equal(new Set(known.values()).size, 20)
})

t.test('what a failed commit introduced is stored by the next one that speaks of it', async (t) => {
  const scene = await stage(t)
  const id = await scene.credential()
  const book = translator(scene)
  const lost = await ids(scene, book, id, [written('a'), written('b')], false)
  t.same(await scene.db.query('select * from message_identity'), [])
  t.same(await ids(scene, book, id, [written('a'), written('b'), written('c')]), [
    ...lost,
    { ...lost[1], message: 3 },
  ])
  const stored = await scene.db.query<{ native: string }>(
    'select native from message_identity order by message_id',
  )
  t.same(stored, [{ native: 'a' }, { native: 'b' }, { native: 'c' }])
  t.same(await ids(scene, translator(scene), id, [written('b')]), [lost[1]])
})

t.test('an answer to a message nobody knows gives that message no id', async (t) => {
  const scene = await stage(t)
  const id = await scene.credential()
  const book = translator(scene)
  const answer = (key: string, native: string): Happening => {
    const event = written(key)
    return event.kind === 'message'
      ? { ...event, message: { ...event.message, replyTo: { native } } }
      : event
  }
  const [draft] = (await book.drafts({ credentialId: id, epoch: 0 }, [answer('a', 'ancient')]))
    .drafts
  t.notOk(draft?.payload.includes('reply_to_message'))
  const { drafts } = await book.drafts({ credentialId: id, epoch: 0 }, [answer('b', 'a')])
  const { message } = JSON.parse(`{${drafts[0]?.payload}}`)
  t.match(message, { message_id: 2, reply_to_message: { message_id: 1 } })
})

t.test('whoever claims an account reads anew what others gave in between', async (t) => {
  const scene = await stage(t)
  const { db, epoch } = scene
  const id = await scene.credential()
  const [a, b] = [translator(scene), translator(scene)]
  /** The message ids as they are told, and as the table has them. */
  const given = async (book: Translator, owner: number, ...names: string[]) => {
    const owned = { credentialId: id, epoch: owner }
    const drafts = await book.drafts(
      owned,
      names.map((name) => written(name)),
    )
    await new IdentityWrites(db).insert(owned, drafts.chats, drafts.messages)
    drafts.stored()
    return drafts.drafts.map(({ payload }) => JSON.parse(`{${payload}}`).message.message_id)
  }
  t.same(await given(a, 0, 'm1', 'm2', 'm3'), [1, 2, 3])
  await epoch(id, 1)
  t.same(await given(b, 1, 'm4', 'm5', 'm6'), [4, 5, 6])
  await epoch(id, 2)
  t.same(await given(a, 2, 'm7', 'm8'), [7, 8])
  t.same(
    await db.query('select native, message_id as id from message_identity order by message_id'),
    [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ native: `m${n}`, id: n })),
  )
  await t.rejects(given(b, 1, 'm9'), { name: 'RequestFailed' }, 'an owner before gives none')
  await t.rejects(a.drafts({ credentialId: id, epoch: 0 }, []), 'nor does it in the same process')
})

t.test('an integer that is taken is an error, and nothing is stored beside it', async (t) => {
  const scene = await stage(t)
  const id = await scene.credential()
  const owned = { credentialId: id, epoch: 0 }
  const message = (native: string, messageId: number) => ({
    native,
    chatId: 7,
    messageId,
    own: false,
  })
  const chat = { native: 'ada', chatId: 7 }
  await new IdentityWrites(scene.db).insert(owned, [chat], [message('m1', 1)])
  await new IdentityWrites(scene.db).insert(owned, [chat], [message('m1', 1)])
  const wrong = [
    [[chat], [message('m2', 2), message('m3', 1)]],
    [[chat], [message('m2', 2), message('m1', 3)]],
    [[{ native: 'ada', chatId: 8 }], []],
    [[{ native: 'bob', chatId: 7 }], []],
  ] as const
  for (const [chats, messages] of wrong) {
    await t.rejects(new IdentityWrites(scene.db).insert(owned, chats, messages))
    const batch = { ...owned, drafts: [], checkpoint: null, apiKeyId: null, traceId: null }
    await t.rejects(commit(scene.db, [{ ...batch, chats, messages }]))
  }
  t.same(await scene.db.query('select native, message_id from message_identity'), [
    { native: 'm1', message_id: 1 },
  ])
})

t.test('an account has one id, whoever asks for it first', { timeout: 30_000 }, async (t) => {
  const scene = await stage(t)
  const credentialId = await scene.credential()
  const owned = { credentialId, epoch: 0 }
  const asks = (native: string, owner?: typeof owned) =>
    translator(scene).idOf(credentialId, native, owner)
  const id = await asks('me@example.org')
  t.ok(id > 0)
  t.equal(await asks('me@example.org'), id, 'asked again by a reader')
  t.equal(await asks('me@example.org', owned), id, 'and by the owner')
  t.not(await asks('you@example.org'), id)
})
