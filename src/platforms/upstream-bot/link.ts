/** Links a bot by its token: one call returns the bot. */

import type { LinkAttempt, LinkStep, Platform } from '../../../actors/ports/platform.ts'
import { invalidField, LinkRefused } from '../../../machines/model/failure.ts'
import type { FailureReason } from '../../../machines/model/reason.ts'
import { linkInOneStep, refused } from '../kit/platform.ts'
import type { BotApiClient } from './client.ts'
import { endingOf, Refused } from './failures.ts'
import { fields, maybeText } from './fields.ts'
import type { Flavour } from './flavour.ts'

/** Only characters without a meaning in a URL. */
const TOKEN = /^\d{1,20}:[\w-]{8,200}$/

export const tokenField = { name: 'token', label: 'Bot token', required: true, secret: true }
export const consentField = {
  name: 'delete_webhook',
  label: 'Delete the webhook that is set for the bot (true)',
  required: false,
}

function tokenIn(given: Readonly<Record<string, string>>): string {
  const token = given.token?.trim() ?? ''
  if (TOKEN.test(token)) return token
  throw invalidField('token', 'must be a bot token such as 123456:ABC-DEF', {
    reason: 'token_form',
  })
}

export async function link(
  given: Readonly<Record<string, string>>,
  open: (token: string) => BotApiClient,
  about: Omit<Trying, 'consents'>,
): Promise<LinkAttempt> {
  const token = tokenIn(given)
  const consents = /^(true|yes|1)$/i.test(given.delete_webhook ?? '')
  const attempt = (limit: AbortSignal) =>
    tryToken(token, open(token), { ...about, consents, signal: limit })
  return linkInOneStep(attempt, about.signal)
}

interface Trying {
  readonly consents: boolean
  readonly flavour: Flavour
  readonly signal: AbortSignal
  readonly assertMeant: Parameters<Platform['startLink']>[4]
}

async function tryToken(token: string, client: BotApiClient, trying: Trying): Promise<LinkStep> {
  const { flavour, consents, signal, assertMeant } = trying
  try {
    const account = await client.me({ signal })
    assertMeant?.(account.native)
    const host = await webhookHost(client, signal)
    if (host !== undefined && !consents) return webhookSet(host)
    if (host !== undefined) await client.call('deleteWebhook', {}, { signal })
    return { kind: 'done', account, secrets: { token } }
  } catch (cause) {
    if (cause instanceof LinkRefused) throw cause
    return refusal(cause, flavour)
  }
}

/** Shows only the host of the webhook's URL, because the rest may be secret. */
async function webhookHost(client: BotApiClient, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { url } = fields(await client.call('getWebhookInfo', {}, { signal }))
    const address = maybeText(url)
    if (address === undefined) return undefined
    return URL.canParse(address) ? new URL(address).host : 'an unknown address'
  } catch (cause) {
    // A server without this method has other ways to say that a webhook is in the way.
    if (cause instanceof Refused && [400, 404].includes(cause.code)) return undefined
    throw cause
  }
}

const webhookSet = (host: string): LinkStep => ({
  ...refused(
    'webhook_set',
    `the bot delivers its updates to a webhook at ${host}; ` +
      'delete it there, or link again with "delete_webhook": "true"',
  ),
  why: { params: { host } },
})

function refusal(cause: unknown, { name }: Flavour): LinkStep {
  const ending = endingOf(cause)
  const why = (reason: FailureReason) => ({ why: { reason, params: { platform: name } } })
  switch (ending.kind) {
    case 'revoked':
      return { ...refused('bad_credentials', `${name} refused the token`), ...why('token_refused') }
    case 'limited':
      return {
        ...refused('flood_wait', `${name} is asked too often`, ending.seconds),
        ...why('platform_busy'),
      }
    case 'invalid':
      return { ...refused('account_banned', `${name} has banned the bot`), ...why('bot_banned') }
    case 'replaced':
    case 'lost':
      return {
        ...refused('unreachable', `${name} cannot be reached`, 30),
        ...why('platform_unreachable'),
      }
  }
}
