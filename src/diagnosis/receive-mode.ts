/** Step 4: whether one way of receiving is in use, and not two against each other. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import type { Sentence } from '../../machines/diagnosis/facts.ts'
import { failing, hasFailed, passed, say, skipped } from './finding.ts'
import type { ReceivingFacts, Refusal } from './receiving.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'receive_mode'

/** Two clients that poll against each other are refused every few seconds. */
const ONGOING_MS = 60_000

export async function checkReceiveMode(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId }, earlier }: Examination,
): Promise<Finding> {
  const key = await world.key(userId, apiKeyId)
  if (!key.scopes.includes('bot:receive')) {
    return skipped(step, say('may_not_receive', { scope: 'bot:receive' }))
  }
  const receiving = await world.receiving(key)
  const refusals = await world.refusals(apiKeyId)
  const because = (...reasons: readonly Refusal['reason'][]) =>
    refusals.filter(({ reason }) => reasons.includes(reason))
  // The fault of a broken account comes first: who polls makes no difference to it.
  const isOut = hasFailed(earlier, 'credential')
  const since = world.now() - ONGOING_MS
  const isOngoing = (found: readonly Refusal[]) =>
    !isOut && found.some(({ at }) => at.getTime() > since)
  const mode = modeOf(receiving)
  const beside = because('webhook_active', 'webhook_changed')
  if (receiving.mode === 'webhook' && beside.length > 0) {
    const code = 'polling_and_webhook'
    const evidence = [mode, say('polling_beside_webhook', { count: beside.length })]
    return isOngoing(beside)
      ? failing(step, code, evidence, say('stop_polling'))
      : passed(step, evidence, { code, remedy: say('polling_is_over') })
  }
  const others = because('other_poll')
  if (others.length > 0) {
    const code = 'two_pollers'
    const evidence = [mode, say('other_pollers', { count: others.length })]
    return isOngoing(others) && world.isPolled(apiKeyId)
      ? failing(step, code, evidence, say('run_one'))
      : passed(step, evidence, { code, remedy: say('others_are_over') })
  }
  const isIdle = receiving.mode === 'none' && receiving.pending > 0
  const remark = { code: 'nobody_receives', remedy: say('start_receiving') } as const
  return passed(step, [mode], isIdle ? remark : undefined)
}

function modeOf({ mode, webhook }: ReceivingFacts): Sentence {
  if (mode === 'webhook') return say('receives_by_webhook', { url: `${webhook?.url}` })
  return say(mode === 'polling' ? 'receives_by_polling' : 'nobody_receives')
}
