/** Step 5: what getWebhookInfo says: how many updates wait, and what went wrong on their way out. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import type { FindingCode, Sentence } from '../../machines/diagnosis/facts.ts'
import { failing, passed, say, skipped } from './finding.ts'
import type { ReceivingFacts, WebhookState } from './receiving.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'webhook_info'

export async function checkWebhook(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId } }: Examination,
): Promise<Finding> {
  const key = await world.key(userId, apiKeyId)
  if (!key.scopes.includes('bot:receive')) {
    return skipped(step, say('may_not_receive', { scope: 'bot:receive' }))
  }
  const receiving = await world.receiving(key)
  const evidence = [say('pending', { count: receiving.pending })]
  const { webhook } = receiving
  if (webhook) {
    evidence.push(say('webhook', { url: webhook.url }))
    const trouble = troubleOf(webhook)
    if (trouble) {
      return failing(step, trouble.code, [...evidence, ...seenOf(webhook)], trouble.remedy)
    }
  }
  return passed(step, evidence, lost(receiving, evidence))
}

interface Trouble {
  readonly code: FindingCode
  readonly remedy: Sentence
}

function seenOf({ failures, lastError, lastStatus }: WebhookState): Sentence[] {
  return [
    ...(lastStatus === undefined ? [] : [say('last_answer', { status: lastStatus })]),
    ...(failures > 0 ? [say('failures', { count: failures })] : []),
    ...(lastError
      ? [say('last_error', { message: lastError.message, at: lastError.at.toISOString() })]
      : []),
  ]
}

function troubleOf({ isSuspended, failures, lastStatus }: WebhookState): Trouble | undefined {
  const isWell = lastStatus === undefined ? failures === 0 : lastStatus < 300
  if (isWell && !isSuspended) return undefined
  switch (lastStatus) {
    case 401:
    case 403:
      return { code: 'secret_refused', remedy: say('compare_secrets') }
    case 410:
      return { code: 'endpoint_gone', remedy: say('correct_address') }
  }
  return isSuspended
    ? { code: 'webhook_suspended', remedy: say('mend_and_set') }
    : { code: 'endpoint_failing', remedy: say('mend') }
}

/** Adds what was lost to `evidence`. */
function lost({ dropped, turnedOff }: ReceivingFacts, evidence: Sentence[]): Trouble | undefined {
  if (turnedOff) {
    evidence.push(say('webhook_removed', { url: turnedOff.url }))
    return { code: 'webhook_turned_off', remedy: say('set_correct_address') }
  }
  if (!dropped) return undefined
  evidence.push(say('dropped', { count: dropped.updates, at: dropped.at }))
  return { code: 'updates_dropped', remedy: say('receive_more_often') }
}
