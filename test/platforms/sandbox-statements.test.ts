/** Plain messages are sent by statements of their own, which do the same as the one for all messages. */
import t, { type Test } from 'tap'
import type { Content } from '../../machines/model/content.ts'
import type { Queryable } from '../../src/database/database.ts'
import { openPrivateChat } from '../../src/sandbox/chats/private-chat.ts'
import { type EventReader, pageOf, readEventPage } from '../../src/sandbox/delivery/event-page.ts'
import { messageOf } from '../../src/sandbox/delivery/mapping.ts'
import { type SentRow, sendStatement, wokenBy } from '../../src/sandbox/messages/send-statement.ts'
import type { OutgoingMessage } from '../../src/sandbox/network/context.ts'
import type { QueuedMessage } from '../../src/sandbox/network/rows.ts'
import { stage } from './sandbox/stage.ts'

const undone = new Error('everything is as it was before')

/** What a statement answers and leaves behind; afterwards everything is as it was. */
async function tried(
  t: Test,
  db: Queryable & { transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> },
  change: string,
  statement: ReturnType<typeof sendStatement>,
  messages: readonly OutgoingMessage[],
) {
  let seen: Readonly<Record<string, readonly object[]>> = {}
  const given = messages.map((message, ord) => ({ ...message, ord, needs: 'send_messages' }))
  const trying = db.transaction(async (tx) => {
    await tx.query(change)
    const sent = await tx.query<SentRow>(statement, [JSON.stringify(given)])
    const [woken, handed = []] = wokenBy(messages, sent)
    seen = {
      sent: sent.map((view) => ({ ...messageOf(view), at: 0 })),
      woken: woken.toSorted().map((person) => ({ person })),
      chats: await tx.query('select id, last_message from sandbox_chat order by id'),
      messages: await tx.query(
        "select to_jsonb(m) - 'at' as row from sandbox_message m order by chat_id, id",
      ),
      events: await tx.query(
        `select person_id, seq, kind, actor_id, caused_by, detail - 'at' as detail
         from sandbox_event order by person_id, seq`,
      ),
      people: await tx.query('select id, events from sandbox_person order by id'),
    }
    for (const person of woken) await assertAlike(t, tx, person, handed)
    throw undone
  })
  await trying.catch((cause) => {
    if (cause !== undone) throw cause
  })
  return seen
}

/** Messages that are handed in are reported as those of the queue would be. */
async function assertAlike(
  t: Test,
  tx: Queryable,
  person: number,
  handed: readonly QueuedMessage[],
): Promise<void> {
  const own = handed.filter((message) => message.person === person)
  const [first] = own
  if (!first) return
  for (const session of [7, 8]) {
    const reader: EventReader = {
      person,
      session,
      openedAt: first.seq - 1,
      recoversChannels: () => true,
    }
    const read = await readEventPage(tx, reader, first.seq - 1)
    t.strictSame(pageOf(reader, own), read, `to ${person}`)
  }
}

/** Changes before the writer's message to the reader. */
type Change = (people: { readonly writer: number; readonly reader: number }) => string

const ofPerson = (change: string, id: number) =>
  `update sandbox_person set ${change} where id = ${id}`

const ofMember = (change: string, id: number) =>
  `update sandbox_member set ${change} where person_id = ${id}`

const block = (one: number, other: number) =>
  `insert into sandbox_block (person_id, blocked_id) values (${one}, ${other})`

const managed = (bot: number, owner: number, isRestricted: boolean) =>
  `insert into sandbox_managed_bot (bot_id, owner_id, manager_id, token, is_restricted)
   values (${bot}, ${owner}, ${owner}, 'token', ${isRestricted})`

const situations: Readonly<Record<string, Change>> = {
  'nothing stands against it': () => 'select 1',
  'both have devices': () => 'update sandbox_person set sessions = 2',
  'only the writer has another device': ({ writer }) => ofPerson('sessions = 2', writer),
  'only the device that writes': ({ writer }) => ofPerson('sessions = 1', writer),
  'the reader keeps the writer out': ({ writer, reader }) => block(reader, writer),
  'the writer keeps the reader out': ({ writer, reader }) => block(writer, reader),
  'the reader is a bot for few': ({ reader }) => managed(reader, reader, true),
  'the reader is the bot of the writer': ({ writer, reader }) => managed(reader, writer, true),
  'the writer is a bot': ({ writer, reader }) => managed(writer, reader, false),
  'the writer is banned': ({ writer }) => ofPerson('banned = true', writer),
  'the writer is gone': ({ writer }) => ofPerson('deactivated = true', writer),
  'the reader is gone': ({ reader }) => ofPerson('deactivated = true', reader),
  'the reader is banned': ({ reader }) => ofPerson('banned = true', reader),
  'the reader has more of a name': ({ reader }) =>
    ofPerson("last_name = 'Lovelace', premium_until = now() + interval '1 day'", reader),
  'there is no chat': () => 'delete from sandbox_member; delete from sandbox_chat',
  'the writer has left': ({ writer }) => ofMember("role = 'left'", writer),
  'the reader has left': ({ reader }) =>
    `${ofMember("role = 'left'", reader)}; ${ofPerson('sessions = 1', reader)}`,
  'the writer may not write': ({ writer }) => ofMember("permissions = '{send_polls}'", writer),
  'the writer may write again': ({ writer }) =>
    ofMember("permissions = '{send_polls}', until = now() - interval '1 day'", writer),
  'the chat lets nobody write': () => "update sandbox_chat set permissions = '{send_polls}'",
  'there are messages and events': () =>
    'update sandbox_chat set last_message = 41; update sandbox_person set events = 7, sessions = 2',
}

t.test('a plain message is sent alike by each statement that can', async (t) => {
  const { db, register } = await stage(t)
  const [writer, reader, other] = [await register(), await register(), await register()]
  for (const { id } of [reader, other]) await openPrivateChat(db, writer.id, id)
  const to = (native: number, request: string): OutgoingMessage => ({
    sender: writer.id,
    session: 7,
    native,
    request,
    content: { kind: 'text', text: 'hello', entities: [] },
  })
  const first = to(reader.id, 'a')
  const one = [first]
  const some = [
    first,
    { ...to(other.id, 'b'), isProtected: true, album: '5' },
    { ...to(reader.id, 'c'), buttons: [[{ text: 'ok', data: 'x' }]] },
  ]
  const statements = {
    any: sendStatement([{ ...first, topic: 1 }]),
    plain: sendStatement(some),
    one: sendStatement(one),
  }
  t.equal(new Set(Object.values(statements).map(({ name }) => name)).size, 3)
  for (const [name, change] of Object.entries(situations)) {
    const sql = change({ writer: writer.id, reader: reader.id })
    const expected = await tried(t, db, sql, statements.any, one)
    t.same(await tried(t, db, sql, statements.plain, one), expected, name)
    t.same(await tried(t, db, sql, statements.one, one), expected, `${name}, alone`)
    const ofSome = await tried(t, db, sql, statements.any, some)
    t.same(await tried(t, db, sql, statements.plain, some), ofSome, `${name}, several`)
  }
  await db.query(statements.any, [JSON.stringify([{ ...first, ord: 0 }])])
  for (const statement of Object.values(statements)) {
    const { sent, events } = await tried(t, db, 'select 1', statement, one)
    t.same({ sent, events }, { sent: [], events: [] }, 'nothing is sent twice')
  }
})

t.test('what its readers are shown in different ways is handed to nobody', async (t) => {
  const { db, register } = await stage(t)
  const [writer, reader] = [await register(), await register()]
  await openPrivateChat(db, writer.id, reader.id)
  await db.query('update sandbox_person set sessions = 1')
  const contents: readonly Content[] = [
    { kind: 'text', text: 'hello', entities: [] },
    { kind: 'paid_media', paid: { stars: 5, items: [] }, caption: { text: '', entities: [] } },
    { kind: 'service', fact: 'pinned', message: '1' },
  ]
  for (const content of contents) {
    const { kind } = content
    const message = { sender: writer.id, session: 7, native: reader.id, request: kind, content }
    const statement = sendStatement([message])
    const given = [{ ...message, ord: 0, needs: 'send_messages' }]
    const sent = await db.query<SentRow>(statement, [JSON.stringify(given)])
    const [woken, handed] = wokenBy([message], sent)
    t.same(woken, [reader.id], kind)
    t.equal(handed !== undefined, kind === 'text', kind)
  }
})
