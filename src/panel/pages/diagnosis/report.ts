/** A diagnosis as text, in the service's own words, to be passed on to somebody else. */
import type { ApiKey, Diagnosis } from '../../api/types.ts'

export function reportOf(
  diagnosis: Diagnosis,
  { name, api_key_id, credential_id }: ApiKey,
): string {
  const { cause, next_action, started_at, steps } = diagnosis
  return [
    `Diagnosis of the key "${name}" (${api_key_id}) of account ${credential_id}, ${started_at}`,
    '',
    ...steps.flatMap(({ step, verdict, code, evidence, remedy }, place) => [
      `${place + 1}. ${step}: ${verdict}${code === null ? '' : ` (${code})`}`,
      ...evidence.map((line) => `   - ${line}`),
      ...(remedy === null ? [] : [`   > ${remedy}`]),
    ]),
    '',
    `Cause: ${cause ? `${cause.text} (${cause.step}: ${cause.code})` : 'none found'}`,
    ...(next_action === null ? [] : [`What to do: ${next_action}`]),
  ].join('\n')
}
