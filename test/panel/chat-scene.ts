/** A person's chat with a bot in the sandbox page: what is on it, and what the bot hears. */
import { linkedAccount } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { type Looks, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

type Testing = Parameters<typeof startService>[0]

/** All kinds of updates that the tests look for: a change of the list would lose those in between. */
const HEARD = [
  'message',
  'callback_query',
  'stopped_message_generation',
  'inline_query',
  'chosen_inline_result',
  'shipping_query',
  'pre_checkout_query',
  'message_reaction',
  'poll_answer',
  'chat_join_request',
  'chat_boost',
  'business_connection',
  'business_message',
]

/** The bot is `@gatebot`; the page shows Ada's chat with it. */
export async function chatScene(t: Testing, phone: string, looks: Looks = {}) {
  const service = await startService(t)
  const account = await linkedAccount(service, 'gatebot', phone)
  const { client, bot, ada, key } = account
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service, looks)
  const { page } = visitor
  let offset = 0
  /** The next update of a kind; those before it are dropped. */
  const heard = (kind: string) =>
    until(async () => {
      const asked = { offset, timeout: 5, limit: 1, allowed_updates: HEARD }
      const { body } = await client.bot(key, 'getUpdates', asked)
      const [update] = body.result
      if (!update) return undefined
      offset = update.update_id + 1
      return update[kind]
    }, 60_000)
  const ask = async (method: string, parameters: object) => {
    const { body } = await client.bot(key, method, { chat_id: ada.id, ...parameters })
    if (!body.ok) throw new Error(`${method}: ${body.description}`)
    return body.result
  }
  await signIn(visitor, service, phone)
  await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
  const field = page.locator('.composer textarea')
  await field.waitFor()
  return {
    ...account,
    ...visitor,
    service,
    field,
    dialog: dialogOf(page),
    button: (name: string) => page.getByRole('button', { name, exact: true }),
    line: (text: string) => page.locator('.line', { hasText: text }).last(),
    heard,
    ask,
  }
}
