/** How webhooks are delivered, as the environment has it. */
import { type Static, Type } from 'typebox'

export const webhookVariables = {
  /** Seconds for one whole attempt. */
  WEBHOOK_TIMEOUT: Type.Number({ minimum: 0.1, maximum: 60, default: 10 }),
  WEBHOOK_ALLOW_PRIVATE: Type.Optional(Type.Boolean()),
  WEBHOOK_LOG_RETENTION: Type.Integer({ minimum: 1, maximum: 3650, default: 30 }),
}

const Variables = Type.Object(webhookVariables)

export interface WebhookSettings {
  readonly timeoutMs: number
  /** Plain http, any port and private addresses: so that a bot on this machine can be tried. */
  readonly allowPrivate: boolean
  readonly logDays: number
}

/** `isTrial`: nobody else is meant to reach this service. */
export function webhooksFrom(env: Static<typeof Variables>, isTrial: boolean): WebhookSettings {
  return {
    timeoutMs: Math.round(1000 * env.WEBHOOK_TIMEOUT),
    allowPrivate: env.WEBHOOK_ALLOW_PRIVATE ?? isTrial,
    logDays: env.WEBHOOK_LOG_RETENTION,
  }
}
