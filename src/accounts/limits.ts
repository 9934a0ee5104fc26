/** How often codes are sent and tried. The figures hold an attacker to a few guesses a day. */

/** So many within a sliding window. */
export interface Rate {
  readonly count: number
  readonly seconds: number
}

export interface OtpLimits {
  /** Seconds a code is valid. */
  readonly lifetime: number
  readonly triesPerCode: number
  /** Seconds to wait after the first, second and every further code within a day. */
  readonly resendDelays: readonly [number, ...number[]]
  readonly sendsPerPhone: Rate
  readonly sendBurstPerPhone: Rate
  /** By network: an IPv4 address or an IPv6 /64. The /48 around it may do four times as much. */
  readonly sendsPerNetwork: Rate
  readonly triesPerNetwork: Rate
  /** Sending costs money: these two bound what an attack can cost. */
  readonly sendsPerCountry: Rate
  readonly sendsInAll: Rate
  /** Wrong codes in a row after which a phone must wait, 15 minutes at first, then ever longer. */
  readonly failuresBeforeLock: number
  /** Wrong codes in a row after which only the operator can help. */
  readonly failuresInAll: number
}

const TEN_MINUTES = 600
const HOUR = 3_600
const DAY = 86_400

export const defaultOtpLimits: OtpLimits = {
  lifetime: 300,
  triesPerCode: 5,
  resendDelays: [60, 120, 300],
  sendsPerPhone: { count: 5, seconds: DAY },
  sendBurstPerPhone: { count: 3, seconds: TEN_MINUTES },
  sendsPerNetwork: { count: 10, seconds: HOUR },
  triesPerNetwork: { count: 30, seconds: HOUR },
  sendsPerCountry: { count: 300, seconds: HOUR },
  sendsInAll: { count: 1_000, seconds: HOUR },
  failuresBeforeLock: 10,
  failuresInAll: 100,
}

/** For the console sender: its codes cost nothing and reach nobody, and whoever tries the service out signs in often. */
export const consoleOtpLimits: OtpLimits = {
  ...defaultOtpLimits,
  resendDelays: [2],
  sendsPerPhone: { count: 1_000, seconds: DAY },
  sendBurstPerPhone: { count: 100, seconds: TEN_MINUTES },
  sendsPerNetwork: { count: 10_000, seconds: HOUR },
  triesPerNetwork: { count: 10_000, seconds: HOUR },
  sendsPerCountry: { count: 10_000, seconds: HOUR },
  sendsInAll: { count: 10_000, seconds: HOUR },
}
