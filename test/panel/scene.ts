/** A user with a few accounts of every kind, keys and traffic: what the panel has to show. */
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { httpReceiver } from '../support/http-receiver.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'

type Testing = Parameters<typeof startService>[0]

export async function panelScene(t: Testing, env: Readonly<Record<string, string>> = {}) {
  const phone = '+14155559001'
  const service = await startService(t, { env: { OPERATOR_PHONES: phone, ...env } })
  const client = await service.client(phone)
  const bot = await client.person('Support', 'support_bot', { last_name: 'Desk' })
  const shop = await client.person('فروشگاه', 'shop_bot')
  const gone = await client.person('Night', 'night_bot', { last_name: 'Watch' })
  const banned = await client.person('Old', 'old_bot')
  const friend = await client.person('Ada', 'ada_l', { last_name: 'Lovelace' })
  const credentialId = await client.link(bot)
  await client.link(shop)
  const goneId = await client.link(gone)
  const bannedId = await client.link(banned)
  const key = await client.key(credentialId)
  await client.write(friend.id, '@support_bot', 'Good morning! Is the shop open today?')
  await client.bot(key.key, 'getMe')
  const chatId: number = await until(async () => {
    const { body } = await client.bot(key.key, 'getUpdates', { timeout: 5 })
    return body.result[0]?.message.chat.id
  }, 60_000)
  await client.bot(key.key, 'sendMessage', {
    chat_id: chatId,
    text: 'Yes, from nine to five.',
    reply_markup: {
      keyboard: [
        [{ text: 'Our menu' }, { text: 'Pick a friend', request_users: { request_id: 1 } }],
      ],
    },
  })
  await client.bot(key.key, 'sendMessage', { chat_id: 1, text: 'to nobody' })
  const place = { latitude: 35.6997, longitude: 51.3381 }
  await client.bot(key.key, 'sendLocation', { chat_id: chatId, ...place })
  const poll = { question: 'Tea or coffee?', options: [{ text: 'Tea' }, { text: 'Coffee' }] }
  await client.bot(key.key, 'sendPoll', { chat_id: chatId, ...poll })
  await client.bot(key.key, 'sendMessage', {
    chat_id: chatId,
    text: 'Shall we *keep one* for you?',
    parse_mode: 'Markdown',
    reply_markup: {
      inline_keyboard: [
        [
          { text: 'Yes', callback_data: 'yes' },
          { text: 'No', callback_data: 'no' },
        ],
      ],
    },
  })
  await client.result('PUT', `/sandbox/people/${gone.id}/faults/revoke`, {})
  await client.result('PUT', `/sandbox/people/${banned.id}/faults/ban`, {})
  await client.state(goneId, 'logged_out', 60_000)
  await client.state(bannedId, 'invalid', 60_000)
  const gonesKey = await client.key(goneId)
  const diagnosed = `/api_keys/${gonesKey.api_key_id}/diagnosis`
  const diagnosis = await client.result('POST', diagnosed, { all: true })
  const { session_id: linking } = await client.result('POST', '/platforms/sandbox/link/start', {
    phone: friend.phone,
  })
  const { token } = await client.result('POST', `/platforms/sandbox/link/${linking}/page`)
  return {
    service,
    client,
    phone,
    bot,
    friend,
    credentialId,
    goneId,
    bannedId,
    key,
    chatId,
    gonesKey,
    diagnosis,
    linking,
    token,
  }
}

export type PanelScene = Awaited<ReturnType<typeof panelScene>>

/** Every address with something of its own to show. */
export const addressesOf = ({
  bot,
  friend,
  credentialId,
  goneId,
  bannedId,
  key,
  gonesKey,
  diagnosis,
  linking,
  token,
}: PanelScene) => ({
  dashboard: '/dashboard',
  accounts: '/dashboard/accounts',
  account: `/dashboard/accounts/${credentialId}`,
  'account-logged-out': `/dashboard/accounts/${goneId}`,
  'account-banned': `/dashboard/accounts/${bannedId}`,
  link: '/dashboard/link?platform=sandbox',
  'link-networks': '/dashboard/link',
  'link-code': `/dashboard/link/sandbox/${linking}`,
  invitation: `/link/${token}`,
  keys: '/dashboard/keys',
  key: `/dashboard/keys/${key.api_key_id}`,
  'key-webhook': `/dashboard/keys/${key.api_key_id}?tab=webhook`,
  'key-deliveries': `/dashboard/keys/${key.api_key_id}?tab=deliveries`,
  'key-requests': `/dashboard/keys/${key.api_key_id}?tab=requests`,
  'key-usage': `/dashboard/keys/${key.api_key_id}?tab=usage`,
  'key-new': '/dashboard/keys?create=',
  diagnosis: `/dashboard/keys/${key.api_key_id}/diagnosis`,
  verdict: `/dashboard/keys/${gonesKey.api_key_id}/diagnosis?diagnosis=${diagnosis.diagnosis_id}`,
  sandbox: '/dashboard/sandbox',
  chat: `/dashboard/sandbox?as=${friend.id}&chat=${bot.id}`,
  demo: '/dashboard/demo',
  alerts: '/dashboard/alerts',
  nodes: '/dashboard/nodes',
  settings: '/dashboard/account',
  missing: '/dashboard/nothing',
})

/** What an installation shows after some days: a webhook that fails, alerts, and calls of a month. */
export async function troubled(t: Testing, { service, client, bot, friend, key }: PanelScene) {
  const receiver = await httpReceiver(t)
  receiver.status = 503
  const { credential_id } = key
  const failing = await client.key(credential_id)
  await client.bot(failing.key, 'setWebhook', { url: receiver.url })
  await client.write(friend.id, `@${bot.username}`, 'Do you have green tea?')
  await receiver.count(1)
  const { user_id } = await client.result('GET', '/user')
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  try {
    await database.query(
      `insert into incident (user_id, rule, subject, state, affected, opened_at, resolved_at)
       values ($1, 'account_out', 'account_banned', 'open', 1, now() - interval '1 hour', null),
              ($1, 'backlog_old', 'backlog_old', 'resolved', 0, now() - interval '1 day', now())`,
      [user_id],
    )
    // The service sees every half minute that none of this is so: it may not say it here.
    await database.query(
      `create or replace function keep_incident() returns trigger language plpgsql as $$
       begin new.affected := old.affected; new.absent_since := null; return new; end $$`,
    )
    await database.query(
      `create or replace trigger kept before update on incident
       for each row execute function keep_incident()`,
    )
    await database.query(
      `insert into usage_hour (user_id, hour, credential_id, api_key_id, measure, label, amount)
       select $1, date_trunc('hour', now()) - make_interval(hours => step), $3, $2, 'request',
         'sendMessage', (20 + 15 * sin(step / 4.0) + step % 7)::bigint
       from generate_series(1, 700) step`,
      [user_id, key.api_key_id, credential_id],
    )
  } finally {
    await database.close()
  }
  return { ...failing, deliveries: `/dashboard/keys/${failing.api_key_id}?tab=deliveries` }
}
