/** Step 3: a test message, for whoever asks for one. */
import type { Examination } from '../../actors/diagnosis.ts'
import { RequestFailed } from '../../actors/errors.ts'
import type { Finding } from '../../machines/diagnosis-events.ts'
import type { Failure } from '../../machines/protocol.ts'
import { chatFrom } from '../bot-api/arguments.ts'
import { failing, hasFailed, passed, skipped } from './finding.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'send'
const content = { kind: 'text' as const, text: 'Test message of Chapar', entities: [] }

export async function checkSending(
  world: ExaminerWorld,
  { facts, sendTo, earlier, signal }: Examination,
): Promise<Finding> {
  const { userId, apiKeyId, credentialId } = facts
  if (sendTo === undefined) {
    return skipped(step, 'No target was given', 'Give send_to, such as "@name", to send a message')
  }
  if (hasFailed(earlier, 'credential')) {
    return skipped(step, 'The account does not work: there is nothing to send through')
  }
  const { scopes } = await world.key(userId, apiKeyId)
  if (!scopes.includes('bot:send')) {
    const remedy = `Add bot:send to the scopes with PATCH /api_keys/${apiKeyId}`
    return failing(step, 'missing_scope', ['The key lacks the scope bot:send'], remedy)
  }
  try {
    const operation = { kind: 'send' as const, chat: chatFrom(sendTo), content }
    const actor = await world.actor(credentialId)
    const now = world.now()
    await actor.ask({ type: 'operation.perform', operation, apiKeyId, now }, signal)
    return passed(step, [`A message was sent to ${sendTo}`])
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    return refusedBy(cause.failure, sendTo)
  }
}

function refusedBy(
  { code, description, certain, retryAfterSeconds }: Failure,
  to: string,
): Finding {
  if (certain === false) {
    const seen = [`The message to ${to} was handed over, but nobody confirmed it`, description]
    const remedy = 'Look whether it arrived before you send again: it may have'
    return failing(step, 'outcome_unknown', seen, remedy)
  }
  if (code === 'rate_limited') {
    const seen = [`The platform takes no messages for ${retryAfterSeconds ?? 1} seconds`]
    return failing(step, 'flood_wait', seen, 'Wait as long, and send less')
  }
  const refusal = description === '' ? code : description
  return failing(
    step,
    refusal === 'chat not found' ? 'chat_not_found' : code,
    [`The message to ${to} was refused: ${refusal}`],
    'Check that the chat exists and the account may write to it',
  )
}
