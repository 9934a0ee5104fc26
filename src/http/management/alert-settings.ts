/** Alert settings of a user: channels, a test of each channel, and the notifications that were sent or lost. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { failed, invalidField, readBack } from '../../../machines/model/failure.ts'
import {
  CHANNELS,
  findNotification,
  listNotifications,
  NOTIFICATION_STATES,
  type Notification,
  tellForTest,
} from '../../alerts/outbox.ts'
import {
  type AlertSettings,
  rotated,
  signingOf,
  type Targets,
  versionOf,
} from '../../alerts/settings.ts'
import type { Alerts } from '../../composition/alerts.ts'
import type { Database } from '../../database/database.ts'
import type { KeyService } from '../../keys/service.ts'
import { AlertSettingsRecord, NotificationRecord } from '../../records/alert.ts'
import { parseWebhookUrl, shownUrl, wholeUrl } from '../../webhooks/address.ts'
import { demandScope } from '../authenticate.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'
import { idBefore, pageOf } from './page.ts'

const DAY_MINUTES = 1_440
const TESTS_LATER = { retryAfterSeconds: 60 }
const TEST_MS = 40_000
const LOOK_MS = 100

const Optional = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

const SettingsBody = Type.Object(
  {
    minutes: Type.Integer({ minimum: 1, maximum: DAY_MINUTES, default: 5 }),
    backlog_minutes: Type.Integer({ minimum: 1, maximum: DAY_MINUTES, default: 15 }),
    webhook: Optional(
      Type.Object(
        { url: Type.String({ minLength: 1, maxLength: 2_048 }) },
        { additionalProperties: false },
      ),
    ),
    chat: Optional(
      Type.Object(
        {
          api_key_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
          chat_id: Type.String({ minLength: 1, maxLength: 128 }),
        },
        { additionalProperties: false },
      ),
    ),
    email: Optional(
      // One plain address: a list or a display name could add recipients.
      Type.String({ maxLength: 254, pattern: '^[^\\s@,;:<>()"\\\\]+@[^\\s@,;:<>()"\\\\]+$' }),
    ),
    version: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Of the settings that this replaces: 409 if they were changed meanwhile',
      }),
    ),
  },
  { additionalProperties: false },
)
const TestBody = Type.Object({ channel: Type.Enum([...CHANNELS]) }, { additionalProperties: false })
const ListQuery = Type.Object(
  { ...PageQuery.properties, state: Type.Optional(Type.Enum([...NOTIFICATION_STATES])) },
  { additionalProperties: false },
)

interface AlertSettingsOptions extends Authenticated {
  readonly db: Database
  readonly alerts: Alerts
  readonly keyService: Pick<KeyService, 'usable'>
  now(): number
}

const tags = ['alerts']

type Routes = FastifyPluginAsyncTypebox<AlertSettingsOptions>

const settingsRoutes: Routes = async (app, options) => {
  const { alerts } = options
  app.get(
    '/alerts/settings',
    {
      schema: {
        tags,
        summary: 'When an account counts as out, and where to tell',
        response: answers(AlertSettingsRecord),
      },
    },
    async (request) => ok(present(await alerts.settings.find(userOf(request)), options)),
  )

  app.put(
    '/alerts/settings',
    {
      schema: {
        tags,
        summary: 'Sets all of it; what is left out is switched off',
        description:
          'With the `version` that was read, a change that another client made meanwhile is not lost.',
        body: SettingsBody,
        response: answers(AlertSettingsRecord),
      },
    },
    async (request) => {
      const userId = userOf(request)
      const { minutes, backlog_minutes: backlogMinutes, version } = request.body
      const settings = await alerts.settings.change(userId, async (before) => {
        if (version !== undefined && version !== versionOf(before)) throw changedMeanwhile()
        const targets = await targetsFrom(request.body, { userId, before, ...options })
        return { minutes, backlogMinutes, targets }
      })
      return ok(present(settings, options))
    },
  )

  app.post(
    '/alerts/settings/secret',
    {
      schema: {
        tags,
        summary: 'A new secret for the webhook; the one before signs along for 24 hours',
        response: answers(AlertSettingsRecord),
      },
    },
    async (request) => {
      const settings = await alerts.settings.change(userOf(request), ({ targets, ...before }) => {
        const { webhook } = targets
        if (!webhook) throw failed('bad_request', 'there is no webhook for alerts')
        const signing = rotated(webhook.signing, options.now())
        return { ...before, targets: { ...targets, webhook: { ...webhook, signing } } }
      })
      return ok(present(settings, options))
    },
  )
}

interface Context extends AlertSettingsOptions {
  readonly userId: number
  readonly before: AlertSettings
}

/** Rejects with the field that cannot be. */
async function targetsFrom(
  { webhook, chat, email }: Static<typeof SettingsBody>,
  { alerts, keyService, userId, before, now }: Context,
): Promise<Targets> {
  if (email && !alerts.sendsMail) {
    throw invalidField('email', 'cannot be used: this service sends no mail', {
      reason: 'mail_not_set_up',
    })
  }
  if (chat) {
    const key = await keyService.usable(userId, chat.api_key_id)
    if (!key.scopes.includes('bot:send')) {
      throw failed('forbidden', 'the key lacks the scope bot:send', {
        reason: 'missing_scope',
        params: { scope: 'bot:send' },
      })
    }
  }
  const url =
    webhook &&
    parseWebhookUrl(wholeUrl(webhook.url, before.targets.webhook?.url), alerts.allowPrivate)
  if (url && (url.username !== '' || url.password !== '')) {
    throw invalidField('webhook.url', 'must not carry user info')
  }
  return {
    ...(url && { webhook: { url: url.href, signing: signingOf(before.targets, now()) } }),
    ...(chat && { chat: { apiKeyId: chat.api_key_id, chatId: chat.chat_id } }),
    ...(email && { email }),
  }
}

const changedMeanwhile = () =>
  failed('conflict', 'the settings were changed meanwhile', { reason: 'settings_changed' })

function present(
  settings: AlertSettings,
  { alerts, now }: Pick<AlertSettingsOptions, 'alerts' | 'now'>,
): AlertSettingsRecord {
  const { minutes, backlogMinutes, targets } = settings
  const { webhook, chat, email } = targets
  const previous = webhook?.signing.previous
  const isPrevious = previous !== undefined && now() < previous.until
  return {
    minutes,
    backlog_minutes: backlogMinutes,
    webhook: webhook
      ? {
          url: shownUrl(webhook.url),
          secret: webhook.signing.secret,
          previous_until: isPrevious ? new Date(previous.until).toISOString() : null,
        }
      : null,
    chat: chat ? { api_key_id: chat.apiKeyId, chat_id: chat.chatId } : null,
    email: email ?? null,
    email_available: alerts.sendsMail,
    version: versionOf(settings),
  }
}

/** Sent like a real alert: through the outbox, by the node that claims it. */
const testRoute: Routes = async (app, { db, alerts, now }) => {
  app.post(
    '/alerts/settings/test',
    {
      schema: {
        tags,
        summary: 'Sends a test by one of the ways that are set, and tells how it ended',
        description: 'To a chat, a personal access token also needs the scope `send`.',
        body: TestBody,
        response: answers(NotificationRecord),
      },
    },
    async (request) => {
      const userId = userOf(request)
      const { channel } = request.body
      if (channel === 'chat') demandScope(request, 'send')
      const { targets } = await alerts.settings.find(userId)
      if (targets[channel] === undefined) throw invalidField('channel', 'is not set')
      const id = await tellForTest(db, userId, channel, new Date(now()))
      if (id === undefined) throw failed('rate_limited', 'too many tests', TESTS_LATER)
      alerts.poke()
      const end = performance.now() + TEST_MS
      for (;;) {
        const found = await readBack(findNotification(db, userId, id))
        if (!found) throw changedMeanwhile()
        if (found.state !== 'waiting' || performance.now() > end) return ok(presentSent(found))
        await pause(LOOK_MS)
      }
    },
  )
}

const notificationsRoute: Routes = async (app, { db }) => {
  app.get(
    '/alerts/notifications',
    {
      schema: {
        tags,
        summary: 'What was told, waits to be told or is lost, newest first',
        querystring: ListQuery,
        response: answers(PageOf(NotificationRecord)),
      },
    },
    async (request) => {
      const { limit, before, state } = request.query
      const asked = { state, limit: limit + 1, before: idBefore(before) }
      const rows = await listNotifications(db, userOf(request), asked)
      const page = pageOf(rows, limit, ({ id }) => `${id}`)
      return ok({ ...page, items: page.items.map(presentSent) })
    },
  )
}

const presentSent = (row: Notification): NotificationRecord => ({
  notification_id: row.id,
  incident_id: row.incident_id,
  channel: row.channel,
  event: row.event,
  affected: row.affected,
  state: row.state,
  attempts: row.attempts,
  code: row.code,
  detail: row.detail,
  created_at: row.created_at.toISOString(),
  next_at: row.state === 'waiting' ? row.next_at.toISOString() : null,
  ended_at: row.ended_at?.toISOString() ?? null,
})

export const alertSettingsRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'keys')
  for (const routes of [settingsRoutes, testRoute, notificationsRoute]) {
    await routes(app, options)
  }
}
