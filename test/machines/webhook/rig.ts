/** Webhooks to walk through their states, and what may happen to them. */

import type { WebhookInput } from '../../../machines/webhook/machine.ts'
import {
  type Trouble,
  type WebhookEvent,
  webhookMachine,
} from '../../../machines/webhook/machine.ts'
import { Walk } from '../walk.ts'

export const NOW = 1_000_000_000_000

export const webhookInput = (input: Partial<WebhookInput> = {}): WebhookInput => ({
  trouble: undefined,
  suspended: false,
  now: NOW,
  ...input,
})

export const begin = (input: Partial<WebhookInput> = {}): Walk<WebhookEvent> =>
  new Walk(webhookMachine, webhookInput(input))

/** Failing since a second ago, and to be tried again in another. */
export const trouble = (more: Partial<Trouble> = {}): Trouble => ({
  failures: 1,
  since: NOW - 1_000,
  goneSince: undefined,
  dueAt: NOW + 1_000,
  ...more,
})

export const failed = (more: Partial<Trouble> = {}): WebhookEvent => ({
  type: 'endpoint.failed',
  trouble: trouble(more),
  now: NOW,
})

export const answered: WebhookEvent = { type: 'endpoint.answered' }
