/** Subscriptions to channels of the sandbox are paid again when their time is over, or end. */
import t from 'tap'
import { DueSubscriptions } from '../../src/sandbox/chats/subscriptions.ts'
import { perform } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

const MONTH = 2_592_000

t.test('a subscriber pays for each period, and leaves when the Stars are gone', async (t) => {
  const { db, sandbox, time, online, register } = await stage(t)
  const { person: owner, session } = await online()
  const { native: chat } = await sandbox.chats
    .create({ kind: 'channel', title: 'Tea', owner: owner.id })
    .then((made) => made.chat)
  const made = await perform(session, {
    kind: 'subscription_invite',
    chat,
    name: 'Patrons',
    seconds: MONTH,
    stars: 100,
  })
  const link = made.kind === 'invite' ? made.invite.link : ''
  const [ada, free] = [await register(), await register()]
  await db.query('update sandbox_person set stars = 250 where id = $1', [ada.id])
  await sandbox.actions.join(ada.id, link)
  await sandbox.chats.join(Number(chat), free.id, 'member')
  const renewals = new DueSubscriptions(sandbox.services)
  const others = new DueSubscriptions(sandbox.services)
  t.teardown(() => Promise.all([renewals.close(), others.close()]))
  const stars = async (person: number) => {
    const rows = await db.query<{ stars: number }>(
      'select stars from sandbox_person where id = $1',
      [person],
    )
    return rows[0]?.stars
  }
  const inside = async () => {
    const { members } = await sandbox.chats.get(Number(chat))
    return members.filter(({ role }) => role === 'member').map(({ person }) => person.id)
  }
  const earned = await stars(owner.id)
  await renewals.renewDue()
  t.equal(await stars(ada.id), 150, 'not before the time is over')

  time.ahead = MONTH * 1000 + 1_000
  await Promise.all([renewals.renewDue(), others.renewDue()])
  t.equal(await stars(ada.id), 50, 'once for each period')
  t.equal(await stars(owner.id), (earned ?? 0) + 100)
  t.same(await inside(), [ada.id, free.id])

  time.ahead += MONTH * 1000 + 1_000
  await renewals.renewDue()
  t.equal(await stars(ada.id), 50)
  t.same(await inside(), [free.id], 'who has joined without a price stays')
  await renewals.renewDue()
  t.equal(await stars(ada.id), 50)
})
