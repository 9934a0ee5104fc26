/** Bale speaks the bot API with differences: it takes no filter, and calls some methods by names of its own. */
import t from 'tap'
import { bale } from '../../src/platforms/upstream-bot/flavour.ts'
import { perform } from './contract/scene.ts'
import { ok, passing, session, startStub, update } from './upstream-bot/stub.ts'

const stub = await startStub(t)
const open = await session(t, stub.url, bale)
await open.reported('opened')

t.test('updates are asked for without a filter', async (t) => {
  stub.push(update('سلام'))
  await open.said('سلام')
  const { body } = stub.last('getUpdates')!
  t.hasOwnProps(body, ['timeout', 'limit'])
  t.notOk('allowed_updates' in body)
})

t.test('its own names of methods are used', async (t) => {
  stub.next('getChatMembersCount', ok(3))
  t.match(await perform(open, passing('getChatMemberCount')), { text: '{"ok":true,"result":3}' })
  stub.next('unPinChatMessage', ok(true))
  t.match(await perform(open, passing('unpinchatmessage')), { status: 200 })
  stub.next('inviteUser', ok(true))
  t.match(await perform(open, passing('inviteUser')), { status: 200 }, 'it may have more')
})
