/** Integers for native ids: the same for ever, ascending in a chat, stored with the events that introduced them. */

import t from 'tap'
import type { Happening } from '../../machines/happening.ts'
import { Translator } from '../../src/bot-api/translator.ts'
import { insertIdentities } from '../../src/identities/store.ts'
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
  const { drafts, chats, messages, stored } = await translator.drafts(credentialId, happenings)
  if (store) {
    await insertIdentities(db, credentialId, chats, messages)
    stored()
  }
  return drafts.map(({ payload }) => {
    const { message } = JSON.parse(`{${payload}}`)
    return { chat: message.chat.id, message: message.message_id }
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
  const [draft] = (await book.drafts(id, [answer('a', 'ancient')])).drafts
  t.notOk(draft?.payload.includes('reply_to_message'))
  const { drafts } = await book.drafts(id, [answer('b', 'a')])
  const { message } = JSON.parse(`{${drafts[0]?.payload}}`)
  t.match(message, { message_id: 2, reply_to_message: { message_id: 1 } })
})
