/** Several messages passed on by one call, of which the network takes some. */
import t from 'tap'
import { failed, OwnershipLost, type RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import { refused } from '../actors/refused.ts'

const taken = { kind: 'message', message: { message_id: 7 } }
const wait = () => failed('rate_limited', '', { retryAfterSeconds: 30 })

/** Calls it with three messages; `failing` is the outcome of the one at `place`. */
function passOn(name: string, place: number, failing: RequestFailed) {
  let tries = 0
  const args = Arguments.from({ chat_id: 1, from_chat_id: 2, message_ids: [1, 2, 3] })
  const perform = async () => {
    if (tries++ === place) throw failing
    return taken
  }
  return methods.get(name.toLowerCase())?.run({ args, perform } as never) ?? Promise.resolve()
}

t.test('a call that was carried out in part is not to be made again as a whole', async (t) => {
  for (const name of ['copyMessages', 'forwardMessages']) {
    await refused(t, passOn(name, 0, wait()), { code: 'rate_limited', retryAfterSeconds: 30 })
    const away = failed('unavailable', '', { retryAfterSeconds: 1 })
    for (const cause of [wait(), away, new OwnershipLost()]) {
      const given = passOn(name, 1, cause).catch((failure) => failure)
      t.notOk((await given) instanceof OwnershipLost, 'no other node does it anew')
      await refused(t, passOn(name, 1, cause), {
        code: 'timeout',
        description: 'some of the messages were sent',
        reason: 'sent_unconfirmed',
        certain: false,
      })
    }
  }
})
