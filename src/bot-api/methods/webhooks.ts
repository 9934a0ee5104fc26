/** Methods about the webhook: setting it, removing it, and asking how it stands. */
import { currentKinds, DEFAULT_KINDS, kindNames } from '../../../machines/model/update-kinds.ts'
import { outError } from '../../credentials/out-error.ts'
import { kindsOf } from '../allowed-updates.ts'
import { type Call, type Method, type Result, result } from '../method.ts'
import { isSameTarget, webhookTargetOf } from '../webhook-target.ts'

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
    const kinds = kindsOf(args)
    if (kinds !== undefined) await key.allow(kinds)
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

/** The reference's word for an address that is not known yet. */
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
    const kinds = currentKinds(key.snapshot.context.filter)
    // As long as the account is out, nothing else counts.
    const out = world.whyOut(credentialId)
    const error = out ? outError(out) : await lastError(world, apiKeyId)
    return result({
      url: webhook?.url ?? '',
      has_custom_certificate: webhook?.certificate !== undefined,
      pending_update_count: await world.pendingUpdates(key),
      ...(error && { last_error_date: error.at, last_error_message: error.message }),
      ...(webhook && { max_connections: webhook.maxConnections }),
      ...(webhook && { ip_address: webhook.ipAddress ?? key.delivery?.address ?? UNRESOLVED }),
      ...(kinds !== DEFAULT_KINDS && { allowed_updates: kindNames(kinds) }),
    })
  },
}

/** What was lost counts most: nothing is dropped without a word. */
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
