/** How the sandbox numbers, stores and queues what is sent, also when much is sent at once. */
import t from 'tap'
import type { Content } from '../../machines/model/content.ts'
import type { Database } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { perform, refusalOf, sending, sent, words } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

/** Counts the statements from now on. */
function counted(db: Database): () => number {
  let statements = 0
  const { query } = db
  const counting: Database['query'] = (...asked) => {
    statements++
    return query(...asked)
  }
  Object.assign(db, { query: counting })
  return () => statements
}

t.test('many sends at once make one row of ids in each chat', async (t) => {
  const { online, register, sandbox } = await stage(t)
  const { session, person } = await online()
  const others = await Promise.all([register(), register(), register()])
  const sends = Array.from({ length: 300 }, (_, index) =>
    sent(session, String(others[index % 3]!.id), words('many')),
  )
  const messages = await Promise.all(sends)
  for (const { id } of others) {
    const ids = messages
      .filter(({ chat }) => chat.native === String(id))
      .map(({ native }) => Number(native))
    t.strictSame(
      ids.toSorted((a, b) => a - b),
      Array.from({ length: 100 }, (_, index) => index + 1),
    )
    const seen = await sandbox.inboxes.messages(id, { chat: person.id, limit: 1000 })
    t.equal(seen.length, 100)
  }
})

t.test('what is sent to one chat at once keeps its order', async (t) => {
  const { online, register } = await stage(t)
  const { session } = await online()
  const others = await Promise.all([register(), register(), register(), register()])
  const send = ({ id }: { readonly id: number }) => sent(session, String(id), words('in turn'))
  // A chat that is yet to be opened takes the first messages in another turn.
  await Promise.all(others.map(send))
  const messages = await Promise.all(
    Array.from({ length: 800 }, (_, index) => send(others[index % others.length]!)),
  )
  for (const [place, { id }] of others.entries()) {
    const ids = messages
      .filter((_, index) => index % others.length === place)
      .map(({ native }) => Number(native))
    t.strictSame(
      ids,
      Array.from({ length: 200 }, (_, index) => index + 2),
      `to ${id}`,
    )
  }
})

t.test('first messages open their chats together, and keep their order', async (t) => {
  const scene = await stage(t)
  const { session } = await scene.online()
  const others = await Promise.all(Array.from({ length: 40 }, scene.register))
  const count = counted(scene.db)
  const send = ({ id }: { readonly id: number }) => sent(session, String(id), words('hello'))
  const messages = await Promise.all([...others, ...others].map(send))
  const spent = count()
  t.ok(spent < 20, `${spent} statements for 80 messages to 40 new chats`)
  t.strictSame(
    messages.map(({ native }) => native),
    [...others.map(() => '1'), ...others.map(() => '2')],
  )
  const ids = others.map(({ id }) => id)
  const rows = await scene.db.query<{ chats: number; members: number }>(
    `select count(distinct c.id)::int as chats, count(*)::int as members
       from sandbox_chat c join sandbox_member m on m.chat_id = c.id
      where c.low_id = any($1) or c.high_id = any($1)`,
    [ids],
  )
  t.strictSame(rows, [{ chats: 40, members: 80 }])
})

t.test('beside first messages, those to nobody and to a deleted person are refused', async (t) => {
  const { online, register, db } = await stage(t)
  const { session } = await online()
  const [one, gone] = await Promise.all([register(), register()])
  await db.query('update sandbox_person set deactivated = true where id = $1', [gone.id])
  const [good, nobody, deactivated] = await Promise.all([
    sent(session, String(one.id), 'hello'),
    refusalOf(perform(session, sending('999999999', 'hello'))),
    refusalOf(perform(session, sending(String(gone.id), 'hello'))),
  ])
  t.equal(good.native, '1')
  t.match(nobody, { code: 'bad_request', reason: 'chat_not_found' })
  t.match(deactivated, { code: 'forbidden', reason: 'user_deactivated' })
})

t.test('a chat that was deleted meanwhile is opened again', async (t) => {
  const { online, register, db } = await stage(t)
  const { session } = await online()
  const { id } = await register()
  t.equal((await sent(session, String(id), 'one')).native, '1')
  t.equal((await sent(session, String(id), 'two')).native, '2')
  for (const [table, chat] of [
    ['sandbox_message', 'chat_id'],
    ['sandbox_member', 'chat_id'],
    ['sandbox_chat', 'id'],
  ]) {
    await db.query(
      `delete from ${table} where ${chat} in (
         select id from sandbox_chat where $1 in (low_id, high_id))`,
      [id],
    )
  }
  t.equal((await sent(session, String(id), 'again')).native, '1')
})

t.test('the same request from two processes at once is one message', async (t) => {
  const { sandbox, online, create, open, register } = await stage(t)
  const { store, session, person } = await online()
  const elsewhere = await open(store, create().platform)
  const { id } = await register()
  await sent(session, String(id), 'the chat is open')
  for (let round = 0; round < 10; round += 1) {
    const request = crypto.randomUUID()
    const both = [session, elsewhere].map((on) =>
      perform(on, sending(String(id), `round ${round}`), request),
    )
    const [one, other] = await Promise.all(both)
    t.strictSame(one, other)
  }
  const messages = await sandbox.inboxes.messages(id, { chat: person.id, limit: 100 })
  t.equal(messages.length, 11)
})

t.test('two linked people talk to each other', async (t) => {
  const { online } = await stage(t)
  const [ada, bob] = [await online(), await online()]
  const asked = await sent(ada.session, bob.person.id.toString(), 'how are you?')
  const heard = await bob.store.message('how are you?')
  t.match(heard, {
    direction: 'incoming',
    message: { native: asked.native, chat: { native: String(ada.person.id) } },
  })
  await sent(bob.session, String(ada.person.id), 'well', { replyTo: asked.native })
  t.match(await ada.store.message('well'), {
    message: { replyTo: { native: asked.native, message: { content: { text: 'how are you?' } } } },
  })
  t.strictSame(ada.store.texts(), ['well'])
  t.strictSame(bob.store.texts(), ['how are you?'])
})

t.test('what one device sends is own on the other', async (t) => {
  const { online, link, open, register } = await stage(t)
  const { person, session, store } = await online()
  const second = await link(person)
  await open(second)
  const { id } = await register()
  await sent(session, String(id), 'from the first')
  t.match(await second.message('from the first'), { direction: 'own' })
  t.notOk(store.texts().includes('from the first'))
})

t.test('a channel is its own author, and every member gets the post', async (t) => {
  const { online, sandbox } = await stage(t)
  const [ada, bob] = [await online(), await online()]
  const { chat } = await sandbox.chats.create({
    kind: 'channel',
    title: 'News',
    owner: ada.person.id,
    members: [bob.person.id],
  })
  const post = await sent(ada.session, chat.native, 'news')
  t.equal(post.from, undefined)
  t.match(await bob.store.message('news'), {
    direction: 'incoming',
    message: { from: undefined, chat: { surface: 'channel', title: 'News' } },
  })
  const failure = await refusalOf(perform(bob.session, sending(chat.native, 'reply')))
  t.equal(failure.description, 'need administrator rights in the channel chat')
})

t.test('the queue goes once every device has confirmed it', async (t) => {
  const { online, link, open, sandbox, register, db } = await stage(t)
  const { person, store } = await online()
  const second = await link(person)
  const { id } = await register()
  await sandbox.actions.write(id, { to: person.id, text: 'one' })
  await store.message('one')
  const queued = async () => {
    await sandbox.close()
    const rows = await db.query<{ count: number }>('select count(*)::int from sandbox_event')
    return rows[0]!.count
  }
  t.ok((await queued()) > 0, 'the second device has not seen it')
  await open(second)
  await second.message('one')
  // The position moves on when the commit is known, which is one turn after the commit.
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(await queued(), 0)
})

t.test('text that the database could not hold is made to fit', async (t) => {
  const { online, register } = await stage(t)
  const { session } = await online()
  const { id } = await register()
  const message = await sent(session, String(id), 'a\0b\ud800c')
  t.match(message.content, { text: 'a b\ufffdc' })
})

t.test('a chat that is deleted meanwhile fails nobody else’s message', async (t) => {
  const { online, register, sandbox, db } = await stage(t)
  const { person, session } = await online()
  // Both go through the same lane, and into one statement.
  const others: number[] = []
  while (others.length < 2) {
    const { id } = await register()
    if (id % 2 === 0) others.push(id)
  }
  const send = (to: number, text: string) =>
    perform(session, {
      kind: 'send',
      chat: `${to}`,
      content: { kind: 'text', text, entities: [] },
    })
  for (const id of others) await send(id, 'open')
  const [doomed, kept] = others as [number, number]
  const chat =
    'select id from sandbox_chat where $1 in (low_id, high_id) and $2 in (low_id, high_id)'
  const held = async (statements: readonly string[], other: number) => {
    const [holding, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const done = db.transaction(async (tx) => {
      for (const statement of statements) await tx.query(statement, [person.id, other])
      holding.resolve()
      await released.promise
    })
    await holding.promise
    return async () => {
      released.resolve()
      await done
    }
  }
  const commit = await held(
    [
      `delete from sandbox_member where chat_id in (${chat})`,
      `delete from sandbox_chat where id in (${chat})`,
    ],
    doomed,
  )
  const outcome = Promise.allSettled([send(doomed, 'two'), send(kept, 'three')])
  const waits = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%given as%'`
  await until(async () => (await db.query(waits)).length > 0)
  await commit()
  const [two, three] = await outcome
  t.match(three, { status: 'fulfilled' }, 'it was in the same statement')
  t.match(two, { status: 'fulfilled' }, 'the two open another chat')
  const seen = await sandbox.inboxes.messages(kept, { limit: 10 })
  t.equal(
    seen.filter(({ content }) => content.kind === 'text' && content.text === 'three').length,
    1,
  )
})

t.test('slow mode counts what is sent, and not what is refused beside it', async (t) => {
  const { register, sandbox, db } = await stage(t)
  const [owner, member] = [await register(), await register()]
  const { chat } = await sandbox.chats.create({
    kind: 'supergroup',
    title: 'Group',
    owner: owner.id,
    members: [member.id],
  })
  const native = Number(chat.native)
  await db.query(
    "update sandbox_chat set slow_mode = 30, permissions = '{send_messages}' where native = $1",
    [native],
  )
  const send = (request: string, content: Content) =>
    sandbox.services.outbox.send({ sender: member.id, native, request, content })
  const text = (words: string): Content => ({ kind: 'text', text: words, entities: [] })
  const [dice, first, second] = await Promise.allSettled([
    send('dice', { kind: 'dice', emoji: '🎲', value: 1 }),
    send('first', text('first')),
    send('second', text('second')),
  ])
  t.match(dice, { reason: { failure: { description: 'not enough rights to send dice' } } })
  t.equal(first?.status, 'fulfilled')
  t.match(second, { reason: { failure: { code: 'rate_limited' } } })
})
