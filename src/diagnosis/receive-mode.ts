/** Step 4: whether one way of receiving is in use, and not two against each other. */
import type { Examination } from '../../actors/diagnosis.ts'
import type { Finding } from '../../machines/diagnosis-events.ts'
import { failing, passed, skipped } from './finding.ts'
import type { ReceivingFacts } from './receiving.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'receive_mode'

export async function checkReceiveMode(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId } }: Examination,
): Promise<Finding> {
  const key = await world.key(userId, apiKeyId)
  if (!key.scopes.includes('bot:receive')) {
    return skipped(step, 'The key may not receive: it lacks the scope bot:receive')
  }
  const receiving = await world.receiving(key)
  const refusals = await world.refusals(apiKeyId)
  const times = (text: string) => refusals.filter((refusal) => refusal.includes(text)).length
  const evidence = [modeOf(receiving)]
  const polledBeside = times('while webhook is active') + times('terminated by setWebhook')
  if (receiving.mode === 'webhook' && polledBeside > 0) {
    const seen = `getUpdates was refused ${polledBeside} times in the last ten minutes, because the webhook is active`
    const remedy = 'Stop the client that polls, or remove the webhook with deleteWebhook'
    return failing(step, 'polling_and_webhook', [...evidence, seen], remedy)
  }
  const otherPolls = times('terminated by other getUpdates')
  if (otherPolls > 0) {
    const seen = `getUpdates was cut off by another getUpdates ${otherPolls} times in the last ten minutes`
    const remedy = 'Run one instance of the bot, or give every instance a key of its own'
    return failing(step, 'two_pollers', [...evidence, seen], remedy)
  }
  if (receiving.mode === 'none' && receiving.pending > 0) {
    const code = 'nobody_receives'
    return passed(step, evidence, { code, remedy: 'Call getUpdates, or set a webhook' })
  }
  return passed(step, evidence)
}

function modeOf({ mode, webhook }: ReceivingFacts): string {
  if (mode === 'webhook') return `Updates are delivered to ${webhook?.url}`
  return mode === 'polling'
    ? 'Updates are fetched by getUpdates; there is no webhook'
    : 'Nobody has fetched updates yet; there is no webhook'
}
