/** Methods by which a bot receives updates: getUpdates, the webhook, logOut and close. */

import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { failed } from '../../../machines/model/failure.ts'
import {
  currentlyWanted,
  namesWanted,
  type Wanted,
  wantedFrom,
} from '../../../machines/model/update-kinds.ts'
import type { WebhookTarget } from '../../../machines/webhook/terms.ts'
import { outError } from '../../credentials/reasons.ts'
import {
  CERTIFICATE_BYTES,
  checkCertificate,
  checkSecretToken,
  parseWebhookUrl,
  withScheme,
} from '../../webhooks/address.ts'
import { headersAt } from '../../webhooks/headers.ts'
import { uploadOf } from '../media.ts'
import { type Call, type Method, type Result, result } from '../method.ts'

/** A value that is no array of strings keeps the stored setting, without an error. */
function wantedBy({ args, platform }: Pick<Call, 'args' | 'platform'>): Wanted | undefined {
  const names = args.json('allowed_updates')
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  return isList
    ? wantedFrom(names, { others: platform.capabilities.passesThrough === true })
    : undefined
}

const CONNECTIONS = { min: 1, max: 100 }
const USUAL_CONNECTIONS = 40

/** Reads the target of a setWebhook call, checked in the reference's order and words. */
async function webhookTargetOf(call: Call, url: string): Promise<WebhookTarget> {
  const { args, world } = call
  parseWebhookUrl(url, world.webhooks.allowPrivate)
  const secretToken = args.text('secret_token')
  checkSecretToken(secretToken ?? '')
  const ipAddress = args.text('ip_address')
  if (ipAddress !== undefined && !isIP(ipAddress)) {
    throw failed('bad_request', 'bad webhook: Invalid IP address specified', {
      reason: 'webhook_refused',
      params: { detail: 'Invalid IP address specified' },
    })
  }
  const address = { url: withScheme(url), ipAddress, certificate: await certificateOf(call) }
  return {
    ...address,
    secretToken,
    // The owner sets them in the management API; a bot only keeps them.
    headers: headersAt(address, call.key.webhook),
    maxConnections: args.has('max_connections')
      ? args.integer('max_connections', CONNECTIONS)
      : USUAL_CONNECTIONS,
  }
}

/** Only an uploaded file counts; text in its place is ignored. */
async function certificateOf(call: Call): Promise<string | undefined> {
  const upload = uploadOf(call, call.args, 'certificate')
  if (!upload) return undefined
  if (upload.size > CERTIFICATE_BYTES) {
    throw failed('bad_request', `certificate size is too big (${upload.size} bytes)`)
  }
  return checkCertificate(await readFile(upload.path))
}

/** Whether setting it would change nothing. A certificate always counts as a change. */
function isSameTarget(current: WebhookTarget | undefined, wanted: WebhookTarget): boolean {
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

/** A small number, which weighs less in the memory of a key than the name. */
function numberOf(name: string): number {
  let number = 0
  for (let at = 0; at < Math.min(name.length, 200); at++)
    number = (31 * number + name.charCodeAt(at)) & 0x3fffffff
  return number
}

const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 }

const getUpdates: Method = {
  name: 'getUpdates',
  summary: 'Receives updates by long polling',
  scope: 'bot:receive',
  operation: undefined,
  admitsItself: true,
  unlimited: true,
  parameters: { offset: 'integer', limit: 'integer', timeout: 'integer', allowed_updates: 'json' },
  required: [],
  // Not async, so that a waiting poll keeps nothing of the call in memory.
  run: ({ args, key, leaving, platform, age, client }) => {
    const request = {
      offset: args.integer('offset', INT32),
      limit: args.has('limit') ? args.integer('limit', { min: 1, max: 100 }) : 100,
      timeoutMs: 1000 * args.integer('timeout', { min: 0, max: 50 }),
      ...wantedBy({ args, platform }),
      ...(age > 0 && { age }),
      ...(client !== undefined && { client: numberOf(client) }),
    }
    return key.poll(request, leaving())
  },
}

/** getUpdates: receiving by long polling. */
export const updateMethods = [getUpdates]

const close: Method = {
  name: 'close',
  summary: 'Lets go of what waits; everything is kept, and the next call goes on',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: {},
  required: [],
  run: async ({ key }) => {
    key.letGo()
    return result(true)
  },
}

const logOut: Method = {
  name: 'logOut',
  summary: 'Removes the webhook and drops what is pending',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: {},
  required: [],
  run: async ({ key }) => {
    key.letGo()
    if (key.hasWebhook) await key.changeWebhook({ kind: 'delete', dropTo: key.newest })
    else await key.dropPending()
    return result(true)
  },
}

/** logOut and close. The account stays linked, because it belongs to its owner and not to the key. */
export const sessionMethods = [logOut, close]

const setWebhook: Method = {
  name: 'setWebhook',
  summary: 'Has updates delivered to an address instead of polling for them',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: {
    url: 'string',
    certificate: 'file',
    ip_address: 'string',
    max_connections: 'integer',
    allowed_updates: 'json',
    drop_pending_updates: 'boolean',
    secret_token: 'string',
  },
  required: [],
  run: async (call) => {
    const { args, key, world } = call
    const url = args.text('url')
    if (url === undefined) return remove(call)
    world.webhooks.pace(key.facts.apiKeyId)
    const target = await webhookTargetOf(call, url)
    const drops = args.boolean('drop_pending_updates')
    const isSame = !drops && !key.hasGivenUp && isSameTarget(key.webhook, target)
    if (!isSame) {
      await key.changeWebhook({ kind: 'set', target, dropTo: drops ? key.newest : undefined })
    }
    const wanted = wantedBy(call)
    if (wanted) await key.allow(wanted)
    return done(isSame ? 'Webhook is already set' : 'Webhook was set')
  },
}

const deleteWebhook: Method = {
  name: 'deleteWebhook',
  summary: 'Removes the webhook; updates can be polled for again',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: { drop_pending_updates: 'boolean' },
  required: [],
  run: (call) => remove(call),
}

async function remove({ args, key }: Call): Promise<Result> {
  const drops = args.boolean('drop_pending_updates')
  if (key.hasWebhook) {
    await key.changeWebhook({ kind: 'delete', dropTo: drops ? key.newest : undefined })
    return done('Webhook was deleted')
  }
  if (drops) await key.dropPending()
  return done('Webhook is already deleted')
}

/** The reference's value while the IP address is not known. */
const UNRESOLVED = '<unknown>'

const done = (description: string): Result => ({ json: 'true', description })

const getWebhookInfo: Method = {
  name: 'getWebhookInfo',
  summary: 'Pending updates, and the last thing that went wrong',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: {},
  required: [],
  run: async ({ key, world }) => {
    const { apiKeyId, credentialId } = key.facts
    const { webhook } = key
    const allowed = namesWanted(currentlyWanted(key.snapshot.context.filter))
    // The reason why the account is out is more important than any other error.
    const out = world.whyOut(credentialId)
    const error = out ? outError(out) : await lastError(world, apiKeyId)
    return result({
      url: webhook?.url ?? '',
      has_custom_certificate: webhook?.certificate !== undefined,
      pending_update_count: await world.pendingUpdates(key),
      ...(error && { last_error_date: error.at, last_error_message: error.message }),
      ...(webhook && { max_connections: webhook.maxConnections }),
      ...(webhook && { ip_address: await addressOf(webhook, { key, world }) }),
      ...(allowed && { allowed_updates: allowed }),
    })
  },
}

/** That of the last delivery; before the first one, where it would go. */
const addressOf = async (
  { ipAddress, url }: WebhookTarget,
  { key, world }: Pick<Call, 'key' | 'world'>,
) => ipAddress ?? key.delivery?.address ?? (await world.webhooks.address(url)) ?? UNRESOLVED

/** The newest of the endpoint's last error, the dropped updates and the skipped messages. */
async function lastError(world: Call['world'], apiKeyId: number) {
  const { lastError: failure } = await world.webhooks.ends(apiKeyId)
  const [dropped, skippedAt] = await Promise.all([world.dropped(apiKeyId), world.skipped(apiKeyId)])
  const told = [
    ...(dropped ? [{ at: dropped.at, message: `${dropped.updates} ${DROPPED}` }] : []),
    ...(skippedAt === undefined ? [] : [{ at: skippedAt, message: SKIPPED }]),
    ...(failure ? [failure] : []),
  ]
  return told.sort((one, other) => other.at - one.at)[0]
}

const DROPPED =
  'updates were dropped unread: they were older than the retention time or beyond the limit'
const SKIPPED =
  'older messages were left out: too many had come while the account was not connected, or they could not be stored'

export const webhookMethods = [setWebhook, deleteWebhook, getWebhookInfo]
