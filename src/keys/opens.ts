/** Whether a secret opens a key, compared in constant time. */
import type { KeyFacts } from '../../actors/ports/ports.ts'
import { hashSecret, sameHash } from '../security/secrets.ts'

/** Without facts there is nothing to open, which takes as long to find out. */
export function opens(facts: Pick<KeyFacts, 'secrets'> | undefined, secret: string, now: number) {
  const hash = hashSecret(secret)
  return (
    facts?.secrets.some(
      ({ hash: known, until = Infinity }) =>
        now < until && sameHash(Buffer.from(known, 'base64'), hash),
    ) ?? false
  )
}
