/** Why a test message was not sent, and what to do: health tests and diagnoses say the same. */
import type { Failure, FailureCode } from '../../machines/model/protocol.ts'

export interface SendingRefusal {
  /** For programs. */
  readonly code: string
  readonly detail: string
  readonly remedy: string
}

const UNREACHED: readonly FailureCode[] = ['unavailable', 'timeout', 'bad_gateway', 'internal']

export function sendingRefusal(failure: Failure): SendingRefusal {
  const { code, description, certain, retryAfterSeconds } = failure
  if (certain === false) {
    const remedy = 'Look whether it arrived before you send again: it may have'
    return { code: 'outcome_unknown', detail: description, remedy }
  }
  if (code === 'rate_limited') {
    const detail = `The platform takes no messages for ${retryAfterSeconds ?? 1} seconds`
    return { code: 'flood_wait', detail, remedy: 'Wait as long, and send less' }
  }
  const detail = description === '' ? code : description
  const shown = detail === 'chat not found' ? 'chat_not_found' : code
  return { code: shown, detail, remedy: remedyOf(code) }
}

function remedyOf(code: FailureCode): string {
  if (UNREACHED.includes(code)) return 'Wait: the service keeps trying by itself'
  return code === 'forbidden'
    ? 'Check that the account is linked and may write to the chat'
    : 'Check that the chat exists and the account may write to it'
}
