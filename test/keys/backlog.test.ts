/** What a key is told that it will never get: its own losses, and nothing else that happened. */
import t from 'tap'
import { droppedUpdates, messagesSkipped } from '../../src/keys/waiting.ts'
import { stage } from '../updates/stage.ts'

const { db, credential, key } = await stage(t)

/** Moves the account from one state to another, so many seconds after a moment of long ago. */
const transition = (credentialId: number, event: string, seconds: number) =>
  db.query(
    `insert into credential_transition
       (credential_id, at, from_state, to_state, event, duration_ms, actor, node)
     values ($1, to_timestamp($3), 'active', 'active', $2, 0, 'system', 'test')`,
    [credentialId, event, BEGAN + seconds],
  )
const BEGAN = 1_700_000_000
const createdAt = (id: number, seconds: number) =>
  db.query('update api_key set created_at = to_timestamp($2) where id = $1', [id, BEGAN + seconds])

t.test('messages were skipped only where the timeline of the account says so', async (t) => {
  const [mine, other] = [await credential(), await credential()]
  const [old, young, stranger] = [await key(mine), await key(mine), await key(other)]
  await Promise.all([createdAt(old, 10), createdAt(young, 30), createdAt(stranger, 0)])
  const told = () => Promise.all([old, young, stranger].map((id) => messagesSkipped(db, id)))

  await transition(mine, 'messages.skipped', 5)
  for (const event of ['session.lost', 'session.up', 'changes.skipped']) {
    for (const seconds of [15, 35, 60]) await transition(mine, event, seconds)
  }
  t.strictSame(await told(), [undefined, undefined, undefined], 'none since they were made')
  await transition(mine, 'messages.skipped', 20)
  t.strictSame(await told(), [BEGAN + 20, undefined, undefined])
  await transition(mine, 'messages.skipped', 40)
  t.strictSame(await told(), [BEGAN + 40, BEGAN + 40, undefined], 'the newest')
})

t.test('dropped updates are told to the key that lost them', async (t) => {
  const id = await credential()
  const [mine, other] = [await key(id), await key(id)]
  await db.query(
    'update api_key set dropped_updates = 3, dropped_at = to_timestamp($2) where id = $1',
    [mine, BEGAN + 0.5],
  )
  t.strictSame(await droppedUpdates(db, mine), { updates: 3, at: BEGAN })
  t.strictSame(await droppedUpdates(db, other), undefined)
})
