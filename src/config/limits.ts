/** How much each user, address and key may ask for, as the environment has it. */
import { type Static, Type } from 'typebox'
import type { OtpLimits } from '../accounts/limits.ts'
import type { ConnectionLimits } from '../http/connections.ts'
import type { KeyLimits } from '../keys/changes.ts'
import type { LinkLimits } from '../links/limits.ts'
import type { GuessLimits, RateLimit } from '../security/rate-limits.ts'

const Count = (standard: number) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: standard })
/** Left to the sender of codes, since those of a console cost nothing. */
const OptionalCount = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }))

/**
 * Connections that the system keeps until they are accepted; it drops those above, and their clients try again after
 * seconds. After a restart all bots come at once. The system's own bound (`net.core.somaxconn`) counts where it is lower.
 */
export const LISTEN_BACKLOG = 4_096

export const limitVariables = {
  USER_CALLS_PER_MINUTE: Count(600),
  WRONG_KEYS_PER_MINUTE: Count(20),
  WRONG_KEYS_PER_HOUR: Count(600),
  CALLS_IN_FLIGHT: Count(1_000),
  CALL_RATE: Type.Number({ exclusiveMinimum: 0, default: 200 }),
  CALL_BURST: Count(2_000),
  API_KEYS_PER_ACCOUNT: Count(100),
  API_KEYS_PER_USER: Count(10_000),
  EVENT_STREAMS_PER_USER: Count(50),
  MAX_CONNECTIONS: Count(15_000),
  MAX_CONNECTIONS_PER_ADDRESS: Count(5_000),
  LINK_STARTS_PER_TARGET: Count(10),
  LINK_STARTS_PER_USER: Count(60),
  LINK_STARTS_IN_ALL: Count(1_000),
  OTP_LENGTH: Type.Optional(Type.Integer({ minimum: 6, maximum: 8 })),
  OTP_LIFETIME: Type.Integer({ minimum: 60, maximum: 600, default: 300 }),
  OTP_TRIES: Type.Integer({ minimum: 1, maximum: 10, default: 5 }),
  OTP_RESEND_DELAYS: Type.Optional(
    Type.String({
      pattern: '^\\d{1,5}(, ?\\d{1,5})*$',
      description: 'must be seconds with commas between, such as 60,120,300',
    }),
  ),
  OTP_SENDS_PER_PHONE: OptionalCount,
  OTP_SENDS_PER_ADDRESS: OptionalCount,
  OTP_TRIES_PER_ADDRESS: OptionalCount,
  OTP_SENDS_PER_COUNTRY: OptionalCount,
  OTP_SENDS_IN_ALL: OptionalCount,
}

const Variables = Type.Object(limitVariables)
type Variables = Static<typeof Variables>

export interface Limits {
  readonly callsPerUser: RateLimit
  readonly wrongKeys: GuessLimits
  readonly callsInFlight: number
  /** The limit of all calls of one key; long bodies count as several calls. */
  readonly callsPerKey: RateLimit
  readonly keys: KeyLimits
  readonly eventStreamsPerUser: number
  readonly connections: ConnectionLimits
  readonly links: LinkLimits
  readonly codeLength: number | undefined
  /** The limits that differ from those of the sender. */
  readonly otp: Partial<OtpLimits>
}

const HOUR = 3_600
const DAY = 86_400

export function limitsFrom(env: Variables): Limits {
  const perMinute = env.USER_CALLS_PER_MINUTE
  return {
    callsPerUser: { perSecond: perMinute / 60, burst: perMinute },
    wrongKeys: { perMinute: env.WRONG_KEYS_PER_MINUTE, perHour: env.WRONG_KEYS_PER_HOUR },
    callsInFlight: env.CALLS_IN_FLIGHT,
    callsPerKey: { perSecond: env.CALL_RATE, burst: env.CALL_BURST },
    keys: { perCredential: env.API_KEYS_PER_ACCOUNT, perUser: env.API_KEYS_PER_USER },
    eventStreamsPerUser: env.EVENT_STREAMS_PER_USER,
    connections: { most: env.MAX_CONNECTIONS, perAddress: env.MAX_CONNECTIONS_PER_ADDRESS },
    links: {
      perTarget: { count: env.LINK_STARTS_PER_TARGET, seconds: HOUR },
      perUser: { count: env.LINK_STARTS_PER_USER, seconds: HOUR },
      inAll: { count: env.LINK_STARTS_IN_ALL, seconds: HOUR },
    },
    codeLength: env.OTP_LENGTH,
    otp: {
      lifetime: env.OTP_LIFETIME,
      triesPerCode: env.OTP_TRIES,
      ...(env.OTP_RESEND_DELAYS && { resendDelays: delaysFrom(env.OTP_RESEND_DELAYS) }),
      ...rate('sendsPerPhone', env.OTP_SENDS_PER_PHONE, DAY),
      ...rate('sendsPerNetwork', env.OTP_SENDS_PER_ADDRESS, HOUR),
      ...rate('triesPerNetwork', env.OTP_TRIES_PER_ADDRESS, HOUR),
      ...rate('sendsPerCountry', env.OTP_SENDS_PER_COUNTRY, HOUR),
      ...rate('sendsInAll', env.OTP_SENDS_IN_ALL, HOUR),
    },
  }
}

const rate = (name: keyof OtpLimits, count: number | undefined, seconds: number) =>
  count === undefined ? {} : { [name]: { count, seconds } }

function delaysFrom(list: string): OtpLimits['resendDelays'] {
  const [first = 0, ...more] = list.split(',').map(Number)
  return [first, ...more]
}
