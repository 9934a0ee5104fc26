/** Step 5: what getWebhookInfo says: what is pending, and what went wrong on the way out. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import { mayReceive } from '../../machines/api-key/terms.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { failing, passed, skipped } from './finding.ts'
import type { ReceivingFacts, WebhookState } from './receiving.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'webhook_info'

export async function checkWebhook(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId } }: Examination,
): Promise<Finding> {
  const key = await world.key(userId, apiKeyId)
  if (!mayReceive(key)) {
    return skipped(step, 'The key may not receive: it lacks the scope bot:receive')
  }
  const receiving = await world.receiving(key)
  const evidence = [`${receiving.pending} updates wait`]
  const { webhook } = receiving
  if (webhook) {
    evidence.push(`The webhook is ${webhook.url}`)
    const trouble = troubleOf(webhook)
    if (trouble)
      return failing(step, trouble.code, [...evidence, ...seenOf(webhook)], trouble.remedy)
  }
  return passed(step, evidence, lost(receiving, evidence))
}

function seenOf({ failures, lastError, lastStatus }: WebhookState): string[] {
  return [
    ...(lastStatus === undefined ? [] : [`Its last answer was ${lastStatus}`]),
    ...(failures > 0 ? [`${failures} attempts in a row failed`] : []),
    ...(lastError ? [`${lastError.message} (${lastError.at.toISOString()})`] : []),
  ]
}

function troubleOf({ isSuspended, failures, lastStatus }: WebhookState) {
  const isWell = lastStatus === undefined ? failures === 0 : lastStatus < 300
  if (isWell && !isSuspended) return undefined
  switch (lastStatus) {
    case 401:
    case 403:
      return {
        code: 'secret_refused',
        remedy:
          'Your endpoint refuses the requests: compare its secret_token with the one given to setWebhook',
      }
    case 410:
      return {
        code: 'endpoint_gone',
        remedy:
          'Your endpoint says that it is gone: call setWebhook with the address that is right',
      }
  }
  return isSuspended
    ? {
        code: 'webhook_suspended',
        remedy: 'Mend the endpoint, then call setWebhook again: nothing was lost',
      }
    : {
        code: 'endpoint_failing',
        remedy: 'Mend the endpoint: it must answer 2xx in time. The service keeps trying',
      }
}

function lost({ dropped, turnedOff }: ReceivingFacts, evidence: string[]) {
  if (turnedOff) {
    evidence.push(
      `The webhook ${turnedOff.url} was removed: it answered for too long that it is gone`,
    )
    return { code: 'webhook_turned_off', remedy: 'Call setWebhook with the address that is right' }
  }
  if (!dropped) return undefined
  evidence.push(`${dropped.updates} updates were dropped unread at ${dropped.at}`)
  const remedy = 'Receive more often: updates are kept for a limited time'
  return { code: 'updates_dropped', remedy }
}
