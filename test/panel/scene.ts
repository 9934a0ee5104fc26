/** A user with a few accounts of every kind, keys and traffic: what the panel has to show. */
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'

type Testing = Parameters<typeof startService>[0]

export async function panelScene(t: Testing, env: Readonly<Record<string, string>> = {}) {
  const service = await startService(t, { env })
  const phone = '+14155559001'
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
  link: '/dashboard/link?platform=sandbox',
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
  settings: '/dashboard/account',
  missing: '/dashboard/nothing',
})
