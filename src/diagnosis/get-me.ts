/** Step 1: whether the key opens anything, and for which missing scope calls were refused. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import { failing, passed, say } from './finding.ts'
import type { ExaminerWorld } from './world.ts'

const step = 'get_me'

export async function checkKey(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId: key, credentialId, opens } }: Examination,
): Promise<Finding> {
  const { revoked_at, expires_at, scopes } = await world.key(userId, key)
  if (revoked_at !== null) {
    return failing(step, 'key_revoked', [say('key_revoked', { at: revoked_at })], say('make_key'))
  }
  if (expires_at !== null && Date.parse(expires_at) <= world.now()) {
    const seen = say('key_expired', { at: expires_at })
    return failing(step, 'key_expired', [seen], say('extend_key', { key }))
  }
  if (opens === false) {
    return failing(step, 'wrong_secret', [say('secret_wrong')], say('use_shown_key', { key }))
  }
  const me = (await world.profile(credentialId)) as { readonly username: string }
  const evidence = [
    say('answers_as', { username: me.username }),
    ...(opens ? [say('secret_right')] : []),
    say('scopes', { scopes: scopes.join(', ') }),
  ]
  const scope = await missingScope(world, key, scopes)
  if (scope === undefined) return passed(step, evidence)
  const seen = [...evidence, say('calls_refused', { scope })]
  return failing(step, 'missing_scope', seen, say('add_scope_or_use_other', { scope, key }))
}

/** A scope that calls were refused for, and that the key still lacks. */
async function missingScope(
  world: ExaminerWorld,
  apiKeyId: number,
  scopes: readonly string[],
): Promise<string | undefined> {
  const refusals = await world.refusals(apiKeyId)
  return refusals.find(({ scope }) => scope !== null && !scopes.includes(scope))?.scope ?? undefined
}
