/** Step 4: whether one way of receiving is in use, and not two against each other. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import { mayReceive } from '../../machines/api-key/terms.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { failing, hasFailed, passed, skipped } from './finding.ts'
import type { ReceivingFacts, Refusal } from './receiving.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'receive_mode'

/** Two that poll against each other are refused every few seconds. */
const ONGOING_MS = 60_000

const saying = (refusals: readonly Refusal[], texts: readonly string[]) =>
  refusals.filter(({ description }) => texts.some((text) => description.includes(text)))

const over = (remedy: string) => `It is over. Should it come again: ${remedy}`

export async function checkReceiveMode(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId }, earlier }: Examination,
): Promise<Finding> {
  const key = await world.key(userId, apiKeyId)
  if (!mayReceive(key)) {
    return skipped(step, 'The key may not receive: it lacks the scope bot:receive')
  }
  const receiving = await world.receiving(key)
  const refusals = await world.refusals(apiKeyId)
  const evidence = [modeOf(receiving)]
  // An account that is out makes no difference to who polls, and is not to be mended by it.
  const isOut = hasFailed(earlier, 'credential')
  const since = world.now() - ONGOING_MS
  const isOngoing = (found: readonly Refusal[]) =>
    !isOut && found.some(({ at }) => at.getTime() > since)
  const beside = saying(refusals, ['while webhook is active', 'terminated by setWebhook'])
  if (receiving.mode === 'webhook' && beside.length > 0) {
    const seen = `getUpdates was refused ${beside.length} times in the last ten minutes, because the webhook is active`
    const remedy = 'Stop the client that polls, or remove the webhook with deleteWebhook'
    const all = [...evidence, seen]
    if (isOngoing(beside)) return failing(step, 'polling_and_webhook', all, remedy)
    return passed(step, all, { code: 'polling_and_webhook', remedy: over(remedy) })
  }
  const others = saying(refusals, ['terminated by other getUpdates'])
  if (others.length > 0) {
    const seen = `getUpdates was cut off by another getUpdates ${others.length} times in the last ten minutes`
    const remedy = 'Run one instance of the bot, or give every instance a key of its own'
    const all = [...evidence, seen]
    if (isOngoing(others) && world.isPolled(apiKeyId)) {
      return failing(step, 'two_pollers', all, remedy)
    }
    return passed(step, all, { code: 'two_pollers', remedy: over(remedy) })
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
