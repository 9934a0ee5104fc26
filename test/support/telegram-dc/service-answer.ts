/** What the transport itself answers: signs of life, what became of messages, and what is wrong with them. */
import type { Long } from '@mtcute/core'
import { clock } from './clock.ts'
import type { ServerSession } from './connection.ts'
import { byName, type TlObject } from './schema.ts'

/** What is known of a message. */
const [UNKNOWN, RECEIVED] = [1, 4]
/** For so long a salt counts. */
const SALT_SECONDS = 1_800

/** Null: no answer is due; undefined: it is no business of the transport. */
export function serviceAnswer(
  object: TlObject,
  id: Long,
  { received, device }: ServerSession,
  givesSalts: boolean,
): TlObject | null | undefined {
  switch (object._) {
    case 'mt_http_wait':
    case 'mt_rpc_drop_answer':
      return null
    case 'mt_ping':
    case 'mt_ping_delay_disconnect':
      return { _: 'mt_pong', msgId: id, pingId: object.pingId }
    case 'mt_get_future_salts': {
      const now = seconds()
      // A client that has but one asks anew with each packet.
      const salts = Array.from({ length: givesSalts ? Number(object.num) : 1 }, (_, place) => ({
        _: 'mt_future_salt',
        validSince: now + place * SALT_SECONDS,
        validUntil: now + (place + 1) * SALT_SECONDS,
        salt: device.auth.salt,
      }))
      return { _: 'mt_future_salts', reqMsgId: id, now, salts }
    }
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

/** Nobody acknowledges these. */
const unacknowledged: ReadonlySet<number> = new Set(
  [
    'mt_msgs_ack',
    'mt_pong',
    'mt_future_salts',
    'mt_msgs_state_info',
    'mt_bad_server_salt',
    'mt_bad_msg_notification',
  ].map((name) => byName.get(name)!.id),
)
export const isForTheTransport = (body: Buffer) => unacknowledged.has(body.readUInt32LE(0))

export interface Heard {
  readonly id: Long
  readonly sequence: number
  readonly salt: Long
  readonly body: Buffer
}

/** What is wrong with a message, by the network's numbers. */
const [TOO_OLD, TOO_NEW, ODD_ID, EVEN_NUMBER, WRONG_SALT] = [16, 17, 18, 35, 48]
const OLDEST_SECONDS = 300
const NEWEST_SECONDS = 30
/** What a client asks the transport, or tells it, and what needs no number of its own. */
const uncounted: ReadonlySet<number> = new Set([
  0x73f1f8dc,
  0x3072cfa1,
  ...[...byName.values()].flatMap(({ name, id }) => (name.startsWith('mt_') ? id : [])),
])

/** Undefined for a message that may pass. */
export function objectionTo(
  { id, sequence, salt, body }: Heard,
  rightSalt: Long,
): TlObject | undefined {
  const wrong = { badMsgId: id, badMsgSeqno: sequence }
  if (salt.neq(rightSalt)) {
    const told = { ...wrong, errorCode: WRONG_SALT, newServerSalt: rightSalt }
    return { _: 'mt_bad_server_salt', ...told }
  }
  const errorCode = codeOf(id, sequence, body)
  return errorCode === undefined ? undefined : { _: 'mt_bad_msg_notification', ...wrong, errorCode }
}

function codeOf(id: Long, sequence: number, body: Buffer): number | undefined {
  const age = seconds() - id.getHighBitsUnsigned()
  if (age > OLDEST_SECONDS) return TOO_OLD
  if (age < -NEWEST_SECONDS) return TOO_NEW
  if (id.getLowBitsUnsigned() % 4 !== 0) return ODD_ID
  const isCounted = !uncounted.has(body.readUInt32LE(0))
  return isCounted && sequence % 2 === 0 ? EVEN_NUMBER : undefined
}

const seconds = () => Math.floor(clock.now() / 1000)
