/** Step 1: whether the key opens anything, and what it was refused for lately. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import { keyStanding } from '../../machines/api-key/terms.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { failing, passed } from './finding.ts'
import type { ExaminerWorld } from './world.ts'

export async function checkKey(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId, credentialId, opens } }: Examination,
): Promise<Finding> {
  const step = 'get_me'
  const key = await world.key(userId, apiKeyId)
  const { revoked_at, expires_at, scopes } = key
  const standing = keyStanding(key, world.now())
  if (standing === 'revoked') {
    const remedy = 'Make a new key with POST /api_keys and give it to your bot'
    return failing(step, 'key_revoked', [`The key was revoked at ${revoked_at}`], remedy)
  }
  if (standing === 'expired') {
    const remedy = `Set a later expiry, or none, with PATCH /api_keys/${apiKeyId}`
    return failing(step, 'key_expired', [`The key expired at ${expires_at}`], remedy)
  }
  if (opens === false) {
    const remedy = `Use the key as it was shown when it was made; if it is lost, POST /api_keys/${apiKeyId}/rotate gives a new one`
    return failing(step, 'wrong_secret', ['The key that was given does not open this key'], remedy)
  }
  const evidence = [
    await answerOf(world, credentialId),
    ...(opens ? ['The key that was given opens it'] : []),
    `The key has the scopes ${scopes.join(', ')}`,
  ]
  const lacking = await lackingScope(world, apiKeyId, scopes)
  if (lacking === undefined) return passed(step, evidence)
  return failing(
    step,
    'missing_scope',
    [...evidence, `Calls were refused in the last ten minutes: the key lacks the scope ${lacking}`],
    `Add ${lacking} to the scopes with PATCH /api_keys/${apiKeyId}, or use another key for these calls`,
  )
}

async function answerOf(world: ExaminerWorld, credentialId: number): Promise<string> {
  const me = (await world.profile(credentialId)) as { readonly username: string }
  return `getMe answers as @${me.username}`
}

/** A scope that the key still lacks. */
async function lackingScope(
  world: ExaminerWorld,
  apiKeyId: number,
  scopes: readonly string[],
): Promise<string | undefined> {
  const refusals = await world.refusals(apiKeyId)
  const named = refusals.map(
    ({ description }) => /the key lacks the scope ([\w:]+)/.exec(description)?.[1],
  )
  return named.find((scope) => scope !== undefined && !scopes.includes(scope))
}
