/** Why a test message was not sent, and what to do: the same in health tests and in diagnoses. */
import type { FindingCode, Sentence } from '../../machines/diagnosis/facts.ts'
import type { Failure, FailureCode } from '../../machines/model/protocol.ts'

export interface SendingRefusal {
  /** For programs. */
  readonly code: FindingCode
  readonly seen: Sentence
  readonly remedy: Sentence
}

const UNREACHED: readonly FailureCode[] = ['unavailable', 'timeout', 'bad_gateway', 'internal']

export function sendingRefusal(failure: Failure): SendingRefusal {
  const { code, certain, retryAfterSeconds, reason } = failure
  if (certain === false) {
    const remedy = { code: 'look_before_sending', params: {} } as const
    return { code: 'outcome_unknown', seen: refusalOf(failure, ''), remedy }
  }
  if (code === 'rate_limited') {
    const seen = { code: 'restricted', params: { count: retryAfterSeconds ?? 1 } } as const
    return { code: 'flood_wait', seen, remedy: { code: 'send_less', params: {} } }
  }
  const shown = reason === 'chat_not_found' ? reason : code
  return { code: shown, seen: refusalOf(failure, code), remedy: remedyOf(code) }
}

/** The words of a failure; `otherwise` where it has none. */
export const refusalOf = ({ description, reason }: Failure, otherwise: string): Sentence => ({
  code: 'refusal',
  params: { refusal: description || otherwise, ...(reason !== undefined && { reason }) },
})

function remedyOf(code: FailureCode): Sentence {
  if (UNREACHED.includes(code)) return { code: 'wait', params: {} }
  return code === 'forbidden'
    ? { code: 'check_account', params: {} }
    : { code: 'check_chat', params: {} }
}
