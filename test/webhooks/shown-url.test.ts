/** What may be a secret in a webhook's path is stored sealed only: not shown, and not left over from older versions. */
import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { formatApiKey, newApiKeySecret } from '../../src/security/secrets.ts'
import { shownUrl, wholeUrl } from '../../src/webhooks/address.ts'
import { testDatabase } from '../support/database.ts'

const ownKey = () => formatApiKey({ id: 123_456, secret: newApiKeySecret() })

const secrets = [
  ...Array.from({ length: 200 }, () => randomBytes(32).toString('base64url')),
  ...Array.from({ length: 200 }, () => randomBytes(8).toString('hex')),
  ...Array.from({ length: 200 }, () => randomUUID()),
  ...Array.from({ length: 50 }, ownKey),
  ...Array.from({ length: 50 }, () => `bot${ownKey()}`),
  ...Array.from({ length: 50 }, () => encodeURIComponent(ownKey())),
  '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
]
const plain = [
  'hook',
  'telegram-webhook-handler',
  'api/v2/telegram/updates_2026/handler',
  'TelegramWebhookHandler',
  'bots/my.production.bot',
]

t.test('a secret is hidden wherever it stands in the path, and words are not', async (t) => {
  for (const secret of secrets) {
    t.equal(shownUrl(`https://me:pw@bot.example/${secret}?k=1`), 'https://bot.example/[hidden]')
    t.equal(
      shownUrl(`https://bot.example:8443/hook/${secret}/tg`),
      'https://bot.example:8443/hook/[hidden]/tg',
    )
  }
  for (const path of plain) {
    t.equal(shownUrl(`https://bot.example/${path}?k=1`), `https://bot.example/${path}`)
  }
})

t.test('the shown form stands for the address that is set, and for no other', async (t) => {
  const current = `https://bot.example/${ownKey()}`
  t.equal(wholeUrl('https://bot.example/[hidden]', current), current)
  t.equal(wholeUrl('https://bot.example/other', current), 'https://bot.example/other')
  for (const other of [undefined, 'https://bot.example/hook']) {
    const refusal = /has a part that reads \[hidden\]/
    t.throws(() => wholeUrl('https://bot.example/[hidden]', other), { message: refusal })
  }
})

t.test('the migration hides them in rows that were stored before', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.query(`select webhook_delivery_upkeep('30 days')`)
  await database.query('alter table webhook disable trigger all')
  await database.query('alter table diagnosis disable trigger all')
  const paths = [...secrets.filter((_, n) => n % 10 === 0), ...plain]
  for (const [n, path] of paths.entries()) {
    const address = `https://a-host-with-a-long-name-1.example/x/${path}`
    await database.query(
      `insert into webhook (api_key_id, shown_url, max_connections, has_certificate)
       values ($1, $2, 40, false)`,
      [n, address],
    )
    await database.query(
      `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, duration_ms)
       values (now(), 1, $1, 1, 1, $2, 5)`,
      [n, address],
    )
    await database.query(
      `insert into diagnosis (id, user_id, api_key_id, credential_id, findings)
       values ($1, 1, 1, 1, $2)`,
      [`${n}`, JSON.stringify([{ evidence: [`The webhook is ${address}`] }])],
    )
  }
  await database.query(`delete from migration where name = '0022-shown-urls'`)
  t.same(await migrate(url), ['0022-shown-urls'])
  const rows = await database.query<{ n: number; shown: string; url: string }>(
    `select w.api_key_id as n, shown_url as shown, url
       from webhook w join webhook_delivery using (api_key_id) order by 1`,
  )
  for (const { n, shown, url } of rows) {
    const wanted = shownUrl(`https://a-host-with-a-long-name-1.example/x/${paths[n]}`)
    t.equal(shown, wanted)
    t.equal(url, wanted)
  }
  t.equal(rows.length, paths.length)
  t.same(await database.query('select from diagnosis'), [])
})
