/** Methods that receive: getUpdates, and what a client asks about the webhook it does not have. */
import {
  currentKinds,
  DEFAULT_KINDS,
  kindNames,
  kindsFrom,
} from '../../../machines/update-kinds.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'

const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 }

const getUpdates: Method = {
  name: 'getUpdates',
  summary: 'Receives updates by long polling',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: { offset: 'integer', limit: 'integer', timeout: 'integer', allowed_updates: 'json' },
  required: [],
  run: async ({ args, key, signal, world }) => {
    const kinds = kindsOf(args)
    const page = await key.poll(
      {
        offset: args.integer('offset', INT32),
        limit: args.has('limit') ? args.integer('limit', { min: 1, max: 100 }) : 100,
        timeoutMs: 1000 * args.integer('timeout', { min: 0, max: 50 }),
        ...(kinds !== undefined && { kinds }),
      },
      signal,
    )
    world.delivered(key, page.count)
    return { json: page.json }
  },
}

/** What is no array of strings keeps the stored setting, without an error. */
function kindsOf(args: Arguments): number | undefined {
  const names = args.json('allowed_updates')
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  return isList ? kindsFrom(names) : undefined
}

const deleteWebhook: Method = {
  name: 'deleteWebhook',
  summary: 'Removes the webhook',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: { drop_pending_updates: 'boolean' },
  required: [],
  run: async ({ args, key }) => {
    if (args.boolean('drop_pending_updates')) await key.dropPending()
    return { json: 'true', description: 'Webhook is already deleted' }
  },
}

const getWebhookInfo: Method = {
  name: 'getWebhookInfo',
  summary: 'Pending updates, and the last thing that went wrong',
  scope: 'bot:receive',
  operation: undefined,
  unlimited: true,
  parameters: {},
  required: [],
  run: async ({ key, world }) => {
    const { apiKeyId } = key.facts
    const kinds = currentKinds(key.snapshot.context.filter)
    const dropped = await world.dropped(apiKeyId)
    return result({
      url: '',
      has_custom_certificate: false,
      pending_update_count: await world.pendingUpdates(key),
      ...(dropped && {
        last_error_date: dropped.at,
        last_error_message: `${dropped.updates} updates were dropped unread: they were older than the retention time or beyond the limit`,
      }),
      ...(kinds !== DEFAULT_KINDS && { allowed_updates: kindNames(kinds) }),
    })
  },
}

export const updateMethods = [getUpdates, deleteWebhook, getWebhookInfo]
