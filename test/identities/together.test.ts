/** Ids that several store at once, each in an order of its own: nobody waits for somebody who waits. */
import t from 'tap'
import { IdentityWrites } from '../../src/identities/store.ts'
import { commit } from '../../src/updates/commit.ts'
import fc from '../support/fast-check.ts'
import { stage } from '../updates/stage.ts'

const ROUNDS = 5
const AT_ONCE = 12

const messages = Array.from({ length: 400 }, (_, n) => ({
  native: `native ${n}`,
  chatId: n + 1,
  messageId: 1,
  own: false,
}))
const order = fc.shuffledSubarray(messages, { minLength: messages.length })

t.test('the same new ids are stored by results and by the log', async (t) => {
  const { db, credential } = await stage(t)
  for (let round = 0; round < ROUNDS; round++) {
    const credentialId = await credential()
    const update = { epoch: 0, drafts: [], checkpoint: null, apiKeyId: null, traceId: null }
    const orders = fc.sample(order, 2 * AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => {
        const [chats = [], messages = []] = orders.slice(2 * n)
        return n % 3 === 0
          ? commit(db, [{ ...update, credentialId, chats, messages }])
          : new IdentityWrites(db).insert({ credentialId, epoch: 0 }, chats, messages)
      }),
    )
    const [row] = await db.query<{ stored: number }>(
      'select count(*)::int as stored from message_identity where credential_id = $1',
      [credentialId],
    )
    t.equal(row?.stored, messages.length)
  }
})

t.test('a locked account keeps its own ids waiting, and those of no other', async (t) => {
  const { db, credential } = await stage(t)
  const [locked, ...free] = await Promise.all([credential(), credential(), credential()])
  const writes = new IdentityWrites(db)
  const numbers = ['first', 'later']
  const store = (credentialId = 0, native = '') => {
    const message = { native, chatId: 1, messageId: 1 + numbers.indexOf(native), own: false }
    return writes.insert({ credentialId, epoch: 0 }, [], [message])
  }
  await db.transaction(async (tx) => {
    await tx.query('select from credential where id = $1 for update', [locked])
    let isRefused = false
    const refused = t.rejects(store(locked, 'first'), { message: 'the database does not answer' })
    void refused.then(() => {
      isRefused = true
    })
    await Promise.all(free.map((id) => store(id, 'first')))
    // A transaction may be idle for three seconds.
    await tx.query('select 1')
    await Promise.all(free.map((id) => store(id, 'later')))
    t.notOk(isRefused, 'the next statement of others does not wait for the lock')
    await refused
  })
  await store(locked, 'first')
  const rows = await db.query('select credential_id from message_identity')
  t.equal(rows.length, 5)
})
