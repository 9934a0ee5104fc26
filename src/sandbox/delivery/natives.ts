/** Native ids are the reference's integers in decimal; anything else names nothing. */
import { failed } from '../../../machines/model/failure.ts'

/** The messenger's own voice, which sends the one-time codes: in every network, and driven by no user. */
export const SERVICE_PERSON = 777_000

const form = /^-?\d{1,15}$/

export function chatNative(text: string): number {
  if (!form.test(text)) throw failed('bad_request', 'chat not found')
  return Number(text)
}

/** `purpose` completes the reference's text: `message to edit not found`. */
export function messageNative(text: string, purpose: string): number {
  if (!form.test(text)) throw failed('bad_request', `message to ${purpose} not found`)
  return Number(text)
}

export function topicNative(text: string): number {
  if (!form.test(text)) throw failed('bad_request', 'message thread not found')
  return Number(text)
}

/** A private chat is found by both its people, any other by its own id in the network of the one who asks. */
export const chatCondition = (me: string, native: string) => `(
  (c.native = ${native}::bigint
    and c.user_id = (select user_id from sandbox_person where id = ${me}::bigint)) or
  (c.low_id = least(${me}::bigint, ${native}::bigint)
    and c.high_id = greatest(${me}::bigint, ${native}::bigint)))`
