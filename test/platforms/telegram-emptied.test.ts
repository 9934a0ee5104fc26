/** A chat that is emptied at once: all of its messages are told as deleted. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

const MANY = 3_000
const allowed_updates = ['message', 'deleted_messages']

interface Update {
  readonly message?: { readonly text?: string }
  readonly deleted_messages?: {
    readonly chat: { readonly id: number }
    readonly message_ids: readonly number[]
  }
}

t.test('one deletion of thousands of messages reaches the bot', async (t) => {
  const stage = await Stage.start(t)
  const { delivery } = stage.network
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend] = [stage.network.person(), stage.network.person()]
  const { key, credentialId } = await linkOver(client, person)
  const path = `/platforms/credentials/${credentialId}/settings`
  await client.result('PATCH', path, { include_deleted_updates: true })
  const newest = async (isSought: (update: Update) => boolean): Promise<Update> => {
    for (;;) {
      const asked = { offset: -1, timeout: 10, allowed_updates }
      const { body } = await client.bot(key, 'getUpdates', asked)
      const [update] = body.result
      if (update && isSought(update)) return update
    }
  }
  const ids = Array.from({ length: MANY }, (_, place) =>
    delivery.send(friend, person, { message: `message ${place}` }),
  )
  await newest(({ message }) => message?.text === `message ${MANY - 1}`)
  delivery.delete(friend, ids)
  const { deleted_messages } = await newest((update) => 'deleted_messages' in update)
  t.match(deleted_messages, { chat: { id: friend.id } })
  t.equal(deleted_messages?.message_ids.length, MANY)
})
