/** Step 3: a test message, for whoever asks for one. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import { hasScope } from '../../machines/api-key/terms.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { chatFrom } from '../bot-api/arguments.ts'
import { sendingRefusal } from '../credentials/sending-refusal.ts'
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
  const key = await world.key(userId, apiKeyId)
  if (!hasScope(key, 'bot:send')) {
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

function refusedBy(failure: Failure, to: string): Finding {
  const { code, detail, remedy } = sendingRefusal(failure)
  switch (code) {
    case 'outcome_unknown': {
      const seen = [`The message to ${to} was handed over, but nobody confirmed it`, detail]
      return failing(step, code, seen, remedy)
    }
    case 'flood_wait':
      return failing(step, code, [detail], remedy)
    default:
      return failing(step, code, [`The message to ${to} was refused: ${detail}`], remedy)
  }
}
