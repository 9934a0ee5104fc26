/** Deletions: found by the messages' own ids, in the chat they name, also before the messages are stored. */
import t from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { FIRST, stage, written } from '../updates/stage.ts'

const deletion = (sourceKey: string, messages: string[], chat?: string): Happening => ({
  kind: 'deleted',
  sourceKey,
  direction: 'incoming',
  at: 1_700_000_000,
  messages,
  ...(chat !== undefined && { chat }),
})

interface Deleted {
  readonly chat: { readonly id: number }
  readonly message_ids: number[]
}

const deleted = (json: string): Deleted[] =>
  JSON.parse(json).flatMap(
    (update: { deleted_messages?: Deleted }) => update.deleted_messages ?? [],
  )

t.test('messages are found by their id alone, chat by chat', async (t) => {
  const { credential, node } = await stage(t)
  const id = await credential()
  const { append } = await node([id])
  await append(id, [written('a'), written('b'), written('c', { chat: 'bob' })])
  // After a restart nothing is in memory.
  const two = await node([id])
  t.equal(await two.append(id, [deletion('gone', ['a', 'b', 'c', 'never seen'])]), 2)
  t.equal(await two.append(id, [deletion('gone', ['a', 'b', 'c'])]), 0)
  const told = deleted((await two.read(id, FIRST - 1)).json)
  t.equal(new Set(told.map(({ chat }) => chat.id)).size, 2)
  t.same(told.map(({ message_ids }) => message_ids).sort(), [[1, 2], [1]].sort())
  t.equal(await two.append(id, [deletion('nothing', ['never seen'])]), 0)
})

t.test('a message that is written and deleted at once is told of twice', async (t) => {
  const { credential, node } = await stage(t)
  const id = await credential()
  const { append, read } = await node([id])
  t.equal(await append(id, [written('a'), deletion('gone', ['a'], 'ada')]), 2)
  t.match(deleted((await read(id, FIRST - 1)).json), [{ message_ids: [1] }])
})

t.test('a deletion that names its chat leaves the same id in other chats alone', async (t) => {
  const { credential, node } = await stage(t)
  const id = await credential()
  const { append, read } = await node([id])
  await append(id, [
    written('first', { native: '1' }),
    written('second', { native: '1', chat: 'bob' }),
  ])
  t.equal(await append(id, [deletion('gone', ['1'], 'bob')]), 1)
  const json = (await read(id, FIRST - 1)).json
  const chats = JSON.parse(json).map((update: { message?: Deleted }) => update.message?.chat.id)
  t.same(deleted(json), [
    { chat: { id: chats[1], type: 'private' }, message_ids: [1], date: 1_700_000_000 },
  ])
})
