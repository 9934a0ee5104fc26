/** Step 3: a test message, if a target is given. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { chatFrom } from '../bot-api/arguments.ts'
import { sendingRefusal } from '../credentials/sending-refusal.ts'
import { failing, hasFailed, passed, say, skipped } from './finding.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'send'
const content = { kind: 'text' as const, text: 'Test message of Chapar', entities: [] }

export async function checkSending(
  world: ExaminerWorld,
  { facts, sendTo, earlier, signal }: Examination,
): Promise<Finding> {
  const { userId, apiKeyId, credentialId } = facts
  if (sendTo === undefined) {
    return skipped(step, say('no_target'), say('give_target'))
  }
  if (hasFailed(earlier, 'credential')) {
    return skipped(step, say('account_out'))
  }
  const { scopes } = await world.key(userId, apiKeyId)
  if (!scopes.includes('bot:send')) {
    const scope = 'bot:send'
    const remedy = say('add_scope', { scope, key: apiKeyId })
    return failing(step, 'missing_scope', [say('scope_missing', { scope })], remedy)
  }
  try {
    const operation = { kind: 'send' as const, chat: chatFrom(sendTo), content }
    const actor = await world.actor(credentialId)
    const now = world.now()
    await actor.ask({ type: 'operation.perform', operation, apiKeyId, now }, signal)
    return passed(step, [say('message_sent', { to: sendTo })])
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) throw cause
    return refusedBy(cause.failure, sendTo)
  }
}

function refusedBy(failure: Failure, to: string): Finding {
  const { code, seen, remedy } = sendingRefusal(failure)
  if (code === 'outcome_unknown') {
    return failing(step, code, [say('message_unconfirmed', { to }), seen], remedy)
  }
  if (seen.code === 'refusal') {
    return failing(step, code, [say('message_refused', { to, ...seen.params })], remedy)
  }
  return failing(step, code, [seen], remedy)
}
