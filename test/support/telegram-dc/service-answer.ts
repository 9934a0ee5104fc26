/** What the transport itself answers: signs of life, and what became of messages. */
import type { Long } from '@mtcute/core'
import type { ServerSession } from './connection.ts'
import type { TlObject } from './schema.ts'

/** What is known of a message. */
const [UNKNOWN, RECEIVED] = [1, 4]

/** Null: no answer is due; undefined: it is no business of the transport. */
export function serviceAnswer(
  object: TlObject,
  id: Long,
  { received }: ServerSession,
): TlObject | null | undefined {
  switch (object._) {
    case 'mt_http_wait':
    case 'mt_rpc_drop_answer':
      return null
    case 'mt_ping':
    case 'mt_ping_delay_disconnect':
      return { _: 'mt_pong', msgId: id, pingId: object.pingId }
    case 'mt_get_future_salts':
      return { _: 'mt_future_salts', reqMsgId: id, now: Math.floor(Date.now() / 1000), salts: [] }
    case 'mt_msgs_state_req': {
      const info = Uint8Array.from(object.msgIds as Long[], (seen) =>
        received.has(seen.toString()) ? RECEIVED : UNKNOWN,
      )
      return { _: 'mt_msgs_state_info', reqMsgId: id, info }
    }
    default:
      return undefined
  }
}
