/** Where a setWebhook call wants updates delivered, checked in the reference's order and words. */
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { failed } from '../../machines/model/failure.ts'
import type { WebhookTarget } from '../../machines/webhook/terms.ts'
import { checkCertificate, checkSecretToken, parseWebhookUrl } from '../webhooks/address.ts'
import { uploadOf } from './media.ts'
import type { Call } from './method.ts'

const CERTIFICATE_BYTES = 3 * 1024 * 1024
const CONNECTIONS = { min: 1, max: 100 }
const USUAL_CONNECTIONS = 40

export async function webhookTargetOf(call: Call, url: string): Promise<WebhookTarget> {
  const { args, world } = call
  const parsed = parseWebhookUrl(url, world.webhooks.allowPrivate)
  const secretToken = args.text('secret_token')
  checkSecretToken(secretToken ?? '')
  const ipAddress = args.text('ip_address')
  if (ipAddress !== undefined && !isIP(ipAddress)) {
    throw failed('bad_request', 'bad webhook: Invalid IP address specified')
  }
  return {
    url: parsed.href,
    ipAddress,
    secretToken,
    certificate: await certificateOf(call),
    maxConnections: args.has('max_connections')
      ? args.integer('max_connections', CONNECTIONS)
      : USUAL_CONNECTIONS,
  }
}

/** Only a file counts: plain text in its place is passed over. */
async function certificateOf(call: Call): Promise<string | undefined> {
  const upload = uploadOf(call, call.args, 'certificate')
  if (!upload) return undefined
  if (upload.size > CERTIFICATE_BYTES) {
    throw failed('bad_request', `certificate size is too big (${upload.size} bytes)`)
  }
  return checkCertificate(await readFile(upload.path))
}

/** Whether setting it would change nothing. A certificate always counts as a change. */
export function isSameTarget(current: WebhookTarget | undefined, wanted: WebhookTarget): boolean {
  return (
    current !== undefined &&
    current.certificate === undefined &&
    wanted.certificate === undefined &&
    current.url === wanted.url &&
    current.maxConnections === wanted.maxConnections &&
    current.secretToken === wanted.secretToken &&
    current.ipAddress === wanted.ipAddress
  )
}
