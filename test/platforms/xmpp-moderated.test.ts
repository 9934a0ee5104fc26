/** What a room's moderators take away (XEP-0425) is gone here, too, in the older form of the extension and in the newer one. */
import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import { MessageNames } from '../../src/platforms/xmpp/message-identity.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { Opinions } from '../../src/platforms/xmpp/reading.ts'
import { RoomMessageIds, readRoom } from '../../src/platforms/xmpp/rooms/reading.ts'
import { moderationMissing, Prosody } from '../support/prosody.ts'
import { sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'

const room = 'room@rooms.xmpp.test'
const by = `${room}/moderator`
const newer = xml(
  'retract',
  { xmlns: ns.retraction, id: 'spam' },
  xml('moderated', { xmlns: ns.moderation, by }),
)
const older = xml(
  'apply-to',
  { xmlns: ns.fastening, id: 'spam' },
  xml('moderated', { xmlns: ns.olderModeration, by }, xml('retract', ns.olderRetraction)),
)

function reading(from: string, ...children: Element[]) {
  const message = xml('message', { type: 'groupchat', from, id: 'm' }, ...children)
  const delivery = { message, key: 'key', archive: room, archived: 'a', at: 1, recovered: false }
  return readRoom(
    { ...delivery, own: false },
    {
      chat: { native: room, surface: 'supergroup' },
      ids: new RoomMessageIds(),
      names: new MessageNames(),
      opinions: new Opinions(),
      person: (nick) => ({ native: `${room}/${nick}`, firstName: nick }),
    },
  )
}

t.test('a message that the room says a moderator took away is deleted', async (t) => {
  const deleted = { kind: 'deleted', chat: room, surface: 'supergroup', messages: ['spam'] }
  t.match(reading(room, newer), deleted)
  t.match(reading(room, older), deleted)
  t.match(reading(room, older, newer), deleted, 'both at once, as some servers say it')
})

t.test('nobody but the room says so', async (t) => {
  for (const told of [older, newer]) t.equal(reading(by, told), undefined)
  const self = xml('retract', { xmlns: ns.retraction, id: 'spam' })
  t.equal(reading(room, self), undefined, 'a room writes nothing that it could take back')
  t.equal(reading(room, xml('body', {}, 'the room was configured')), undefined)
})

t.test('over a room with moderators', { skip: moderationMissing ?? false }, async (t) => {
  const network = Network.over(t, await Prosody.start({ moderation: true }))
  const { account, friend, store, first } = await scene(t, network)
  const address = `${account.user}@rooms.xmpp.test`
  await friend.join(address, 'friend')
  const { native } = await sent(first, address, 'buy now')
  await friend.sees(({ body }) => body === 'buy now')
  await friend.ask(
    address,
    `<apply-to xmlns="${ns.fastening}" id="${native}"><moderate xmlns="${ns.olderModeration}">` +
      `<retract xmlns="${ns.olderRetraction}"/></moderate></apply-to>`,
  )
  const gone = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
  t.match(gone, { chat: address, messages: [native] })
})
