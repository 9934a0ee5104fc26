/** Link flows to walk through their states, and what they can be told. */

import type { LinkEvent, LinkInput, LinkState, ShownStep } from '../../../machines/link/events.ts'
import { linkMachine } from '../../../machines/link/machine.ts'
import type { Failure } from '../../../machines/model/protocol.ts'
import { Walk } from '../walk.ts'

export const linkInput = (input: Partial<LinkInput> = {}): LinkInput => ({
  sessionId: 's1',
  state: 'code_sent',
  step: { state: 'code_sent', sentVia: 'sms', codeLength: 5, resendAt: 60_000 },
  attemptsLeft: 3,
  expiresAt: 900_000,
  expiresInMs: 900_000,
  credentialId: undefined,
  reason: undefined,
  ...input,
})

export const begin = (
  state: LinkState = 'code_sent',
  input: Partial<LinkInput> = {},
): Walk<LinkEvent> => new Walk(linkMachine, linkInput({ state, ...input }))

export const verify = (
  answer: { code?: string; password?: string },
  requestId = 'v1',
): LinkEvent => ({ type: 'link.verify', requestId, ...answer })

export const code = verify({ code: '12345' })
export const password = verify({ password: 'secret' })

export const resend = (now: number, requestId = 'r1'): LinkEvent => ({
  type: 'link.resend',
  requestId,
  now,
})

export const cancel: LinkEvent = { type: 'link.cancel', requestId: 'c1' }
export const wrong: LinkEvent = { type: 'answer.wrong', requestId: 'v1', what: 'code' }
export const finished: LinkEvent = { type: 'link.finished', requestId: 'v1', credentialId: 7 }

export const step = (
  state: ShownStep['state'],
  requestId = 'v1',
  more: Partial<ShownStep> = {},
): LinkEvent => ({ type: 'step.reached', requestId, step: { state, ...more } })

export const answerFailed = (failure: Failure, requestId = 'v1'): LinkEvent => ({
  type: 'answer.failed',
  requestId,
  failure,
})

export const over: Failure = {
  code: 'bad_request',
  description: 'the link session is over; start again',
  reason: 'link_over',
}
