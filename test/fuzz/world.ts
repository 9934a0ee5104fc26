/** The service that is fuzzed: what exists in it, what it logs, and what must not be seen again. */
import { createLogger } from '../../src/observability/logger.ts'
import { linkedAccount } from '../service/scene.ts'
import { startService } from '../support/service.ts'
import { type Description, type Operation, operationsOf } from './operations.ts'
import type { Known } from './requests.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

export interface FuzzWorld {
  readonly port: number
  readonly operations: readonly Operation[]
  readonly known: Known
  /** What was logged since it was last emptied. */
  readonly log: string[]
  /** Signs in again before an access token is over, and says whether it did: long runs outlive many. */
  renewed(): Promise<boolean>
  /** Whether the service still does for its user what it did before. */
  works(): Promise<boolean>
}

const RENEW_MS = 300_000

const env = {
  LOG_LEVEL: 'trace',
  USER_CALLS_PER_MINUTE: '100000000',
  WRONG_KEYS_PER_MINUTE: '100000000',
  WRONG_KEYS_PER_HOUR: '100000000',
  // As in the product, but shorter: a call that meets a restart of its account waits.
  HOLD_MS: '2000',
  // Calls of people whose network is out of order are not waited for.
  PLATFORM_TIMEOUT_MS: '1000',
  OTP_RESEND_DELAYS: '0',
  WEBHOOK_ALLOW_PRIVATE: 'false',
}

export async function openWorld(t: Testing): Promise<FuzzWorld> {
  const log: string[] = []
  const logger = createLogger({
    level: 'trace',
    destination: { write: (line) => void log.push(line) },
  })
  const service = await startService(t, { env, logger })
  const { url } = service
  const { client, bot, ada, credentialId, key } = await linkedAccount(service, 'fuzzbot')
  const eve = await client.person('Eve', 'fuzzbot_eve')
  const spare = await client.key(credentialId)
  const { token } = await client.result('POST', '/user/tokens', {
    name: 'script',
    scopes: ['read', 'link', 'keys', 'send'],
  })
  const session = await client.result('POST', '/platforms/sandbox/link/start', { phone: eve.phone })
  const sent = await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'first' })
  const description: Description = JSON.parse(await (await fetch(`${url}/openapi.json`)).text())

  let user = client
  let signedInAt = performance.now()
  const chats = [ada.id, `@${ada.username}`, `${ada.id}`, bot.id]
  const known: Known = {
    get authorizations() {
      return [`Bearer ${user.token}`, `apikey ${token}`]
    },
    keys: [key, key.replace(':', '%3A'), `${key}x`, `1${key}`, 'x', '1:2'],
    likely: {
      platform: ['sandbox'],
      credential_id: [credentialId, credentialId, 999_999],
      session_id: [session.session_id],
      id: [spare.api_key_id],
      person: [eve.id],
      blocked: [ada.id],
      chat: [ada.id],
      message: [1, 2],
      chat_id: chats,
      from_chat_id: chats,
      user_id: [ada.id, eve.id],
      message_id: [sent.body.result.message_id, 1],
      message_ids: [[sent.body.result.message_id]],
      action: ['typing', 'upload_photo'],
      reaction: [[{ type: 'emoji', emoji: '👍' }], []],
      commands: [[{ command: 'start', description: 'Begins' }]],
      latitude: [51.5],
      longitude: [-0.1],
      language_code: ['en', 'fa', ''],
      // Empty ones count as absent: others than those of a business, an effect or a topic are refused at once.
      business_connection_id: ['', 'x'],
      message_effect_id: ['', '', '5104841245755180586'],
      message_thread_id: [0, 0, 3],
      reply_to_message_id: [sent.body.result.message_id],
      text: ['hello', '<b>bold</b>'],
      parse_mode: ['HTML', 'MarkdownV2'],
      phone: [eve.phone],
      otp: ['123456'],
      timeout: [0],
      wait_seconds: [0],
    },
    get secrets() {
      return [key, user.token, token, ada.phone]
    },
  }
  return {
    port: Number(new URL(url).port),
    operations: operationsOf(description),
    known,
    log,
    async renewed() {
      if (performance.now() - signedInAt < RENEW_MS) return false
      user = await user.renewed()
      signedInAt = performance.now()
      return true
    },
    async works() {
      const [self, me] = [await user.ask('GET', '/user'), await user.bot(key, 'getMe')]
      return self.status === 200 && me.status === 200
    },
  }
}
