/** A room that a server has just started refuses messages of those who were in it. */
import { xml } from '@xmpp/client'
import t from 'tap'
import { failed, notFound } from '../../machines/model/failure.ts'
import { SentRequests } from '../../src/platforms/kit/sent-requests.ts'
import { bounced } from '../../src/platforms/xmpp/failures.ts'
import { Place } from '../../src/platforms/xmpp/places.ts'
import type { Room } from '../../src/platforms/xmpp/rooms/room.ts'
import { patience } from './contract/recorder.ts'
import { refusalOf } from './contract/scene.ts'

/** The room refuses a message with each of `refusals`, and takes the next one. */
function roomThat(...refusals: readonly Error[]) {
  const happened: string[] = []
  const refuse = [...refusals]
  const room = {
    address: 'room@rooms.here.test',
    left: () => happened.push('left'),
  } as unknown as Room
  const parts = {
    own: 'me@here.test',
    sent: new SentRequests(),
    outbox: {
      isWaiting: () => false,
      async post() {
        happened.push('sent')
        const refusal = refuse.shift()
        if (refusal) throw refusal
      },
    },
    rooms: {
      async inside() {
        happened.push('entered')
      },
    },
  } as unknown as ConstructorParameters<typeof Place>[2]
  const place = new Place({ native: room.address, surface: 'group' }, room, parts)
  return { happened, post: () => place.post(xml('message', { id: 'one' }), patience()) }
}

for (const refusal of [bounced('item-not-found'), bounced('not-acceptable')]) {
  t.test(`${refusal.message}: the room is entered again`, async (t) => {
    const { happened, post } = roomThat(refusal)
    await post()
    t.same(happened, ['sent', 'left', 'entered', 'sent'])
  })
}

t.test('a room that refuses it twice is believed', async (t) => {
  const { happened, post } = roomThat(notFound('chat'), notFound('chat'))
  t.match(await refusalOf(post()), { reason: 'chat_not_found' })
  t.equal(happened.filter((what) => what === 'sent').length, 2)
})

t.test('any other refusal is told', async (t) => {
  const { happened, post } = roomThat(failed('bad_request', 'too long'))
  t.match(await refusalOf(post()), { description: 'too long' })
  t.same(happened, ['sent'])
})
