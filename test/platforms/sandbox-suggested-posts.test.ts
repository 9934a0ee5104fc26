/** Suggested posts of the sandbox are published in their time, paid after a day, and given back when they are deleted. */
import t from 'tap'
import { DuePosts } from '../../src/sandbox/messages/suggested-posts.ts'
import { perform } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

const DAY = 86_400

t.test('the channel is paid for a post that stands for a day, and for no other', async (t) => {
  const { db, sandbox, time, online, register } = await stage(t)
  const { person: owner, session } = await online()
  const ada = await register()
  const { native: channel } = await sandbox.chats
    .create({ kind: 'channel', title: 'Tea', owner: owner.id, members: [ada.id] })
    .then((made) => made.chat)
  const { native: chat } = await sandbox.actions.openDirectMessages(ada.id, Number(channel))
  await db.query('update sandbox_person set stars = 100 where id = any($1)', [[owner.id, ada.id]])
  const stars = async (person: number) =>
    (
      await db.query<{ stars: number }>('select stars from sandbox_person where id = $1', [person])
    )[0]?.stars
  const sendAt = Math.floor(Date.now() / 1000) + 1_000
  const suggest = async (text: string) => {
    const [message] = await sandbox.actions.send(ada.id, {
      to: Number(chat),
      contents: [{ kind: 'text', text, entities: [] }],
      suggested: { price: { currency: 'XTR', amount: 10 }, sendAt },
    })
    await perform(session, { kind: 'approve_post', chat, message: message!.native })
    return message!.native
  }
  await suggest('one')
  await suggest('two')
  const due = new DuePosts(sandbox.services)
  const others = new DuePosts(sandbox.services)
  t.teardown(() => Promise.all([due.close(), others.close()]))
  const posts = () => sandbox.inboxes.messages(ada.id, { chat: Number(channel), limit: 10 })
  const facts = async () => {
    const shown = await sandbox.inboxes.messages(ada.id, { chat: Number(chat), limit: 10 })
    return shown.flatMap(({ content }) => (content.kind === 'service' ? content.fact : []))
  }
  await due.publishDue()
  t.same(await posts(), [], 'not before their time')
  t.equal(await stars(ada.id), 80)

  time.ahead = 1_001_000
  await Promise.all([due.publishDue(), others.publishDue()])
  const [second, first] = await posts()
  t.match(first, { content: { text: 'one' }, isPaidPost: true })
  t.match(second, { content: { text: 'two' } })
  t.equal((await posts()).length, 2, 'each once')
  t.equal(await stars(owner.id), 100)

  await perform(session, { kind: 'delete', chat: channel, message: second!.native })
  await Promise.all([due.publishDue(), others.publishDue()])
  t.equal(await stars(ada.id), 90, 'the price of the deleted one')
  t.same((await facts())[0], 'post_refunded')

  time.ahead += DAY * 1000
  await Promise.all([due.publishDue(), others.publishDue()])
  t.equal(await stars(owner.id), 110)
  t.same((await facts())[0], 'post_paid')
  await due.publishDue()
  t.equal(await stars(owner.id), 110)
})
