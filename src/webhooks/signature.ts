/** Signatures of Standard Webhooks: `v1,` and an HMAC of id, time and body. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export const newSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

export interface Signed {
  readonly id: string
  /** Unix time in seconds, of the attempt. */
  readonly timestamp: number
  readonly body: string
}

/** One signature for each secret, the newest first: after a rotation both hold for a while. */
export function signatures({ id, timestamp, body }: Signed, secrets: readonly string[]): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
      return `v1,${mac.digest('base64')}`
    })
    .join(' ')
}
