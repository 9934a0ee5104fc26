/** Whether another code may be sent: to this phone, for this network, into this country, at all. */

import type { Logger } from '../../actors/ports/ports.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Queryable } from '../database/database.ts'
import type { Requester } from './client.ts'
import { networksOf } from './client.ts'
import { secondsAfter, secondsUntil } from './clock.ts'
import type { OtpLimits, Rate } from './limits.ts'
import { giveBackUse, tooMany, useQuota } from './quota.ts'

interface Sending {
  /** Stands for the phone without naming it. */
  readonly phoneKey: string
  readonly country: string
  readonly requester: Requester
}

const timesFour = ({ count, seconds }: Rate): Rate => ({ count: 4 * count, seconds })

/**
 * Counts one more code and returns after how many seconds the next one may follow. To be run in a transaction: a
 * refused one then counts nowhere.
 */
export async function admitSending(
  tx: Queryable,
  { phoneKey, country, requester }: Sending,
  limits: OtpLimits,
  now: Date,
  log: Logger,
): Promise<number> {
  // Strangers share what a phone may be sent; a network that its owner uses has a share of its own.
  const { ip, network, isKnown } = requester
  const to = isKnown ? `${phoneKey}:${network}` : phoneKey
  const day = await useQuota(tx, `send:day:${to}`, limits.sendsPerPhone, now)
  const last = day.at(-2)
  const next = last && secondsAfter(last, delayAfter(day.length - 1, limits))
  if (next && next > now) throw tooMany(secondsUntil(next, now))
  await useQuota(tx, `send:burst:${to}`, limits.sendBurstPerPhone, now)

  const { narrow, wide } = networksOf(ip)
  await useQuota(tx, `send:ip:${narrow}`, limits.sendsPerNetwork, now)
  if (wide) await useQuota(tx, `send:ip:${wide}`, timesFour(limits.sendsPerNetwork), now)

  await alarmed(log, country, useQuota(tx, `send:country:${country}`, limits.sendsPerCountry, now))
  await alarmed(log, 'all', useQuota(tx, 'send:all', limits.sendsInAll, now))
  return delayAfter(day.length, limits)
}

/** Counts one more try of this network; the right code is given back by what this resolves with. */
export async function admitTry(db: Queryable, ip: string, limits: OtpLimits, now: Date) {
  const { narrow, wide } = networksOf(ip)
  const keys = [`try:ip:${narrow}`, ...(wide ? [`try:ip:${wide}`] : [])]
  const rates = [limits.triesPerNetwork, timesFour(limits.triesPerNetwork)]
  for (const [place, key] of keys.entries()) await useQuota(db, key, rates[place]!, now)
  return async () => {
    for (const key of keys) await giveBackUse(db, key, now)
  }
}

function delayAfter(sends: number, { resendDelays }: OtpLimits): number {
  return resendDelays[sends - 1] ?? resendDelays.at(-1) ?? resendDelays[0]
}

/** Reaching one of the two spending caps means an attack, or a success that the caps do not fit any more. */
async function alarmed(log: Logger, scope: string, use: Promise<unknown>): Promise<void> {
  try {
    await use
  } catch (error) {
    if (error instanceof RequestFailed) {
      log.error({ alarm: 'otp_cap', scope }, 'no more one-time codes are sent for now')
    }
    throw error
  }
}
