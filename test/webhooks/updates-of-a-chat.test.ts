/** Whatever happens in one chat is delivered one after the other; chats do not wait for each other. */
import t from 'tap'
import type { WebhookKey } from '../../actors/ports/webhooks.ts'
import { kindNumber } from '../../machines/model/update-kinds.ts'
import type { Database } from '../../src/database/database.ts'
import type { Vault } from '../../src/security/vault.ts'
import { ReadRows } from '../../src/updates/read.ts'
import type { Row } from '../../src/updates/row.ts'
import { createWebhooks } from '../../src/webhooks/webhooks.ts'
import { only } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'

const ofChat = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'deleted_messages',
  'message_delivered',
  'message_read',
]

const row = (kind: string, chatId: number, updateId: number): Row => ({
  updateId,
  kind: kindNumber(kind),
  apiKeyId: null,
  chatId,
  traceId: null,
  payload: `"${kind}":{"chat":{"id":${chatId}}}`,
})

t.test('all kinds of updates of a chat share its lane', async (t) => {
  const rows = [7, 8].flatMap((chatId) =>
    ofChat.map((kind, n) => row(kind, chatId, 100 * chatId + n)),
  )
  const unexpected = () => t.fail('nothing else is asked for')
  const { port } = createWebhooks({
    db: only<Database>(t, 'Database', {}),
    vault: only<Vault>(t, 'Vault', {}),
    logger: quietLogger,
    node: 'a',
    config: { allowPrivate: true, timeoutMs: 1_000, logDays: 1, logSample: 1, bodyDays: 0 },
    updates: { rows: async () => new ReadRows(rows, 900) },
    flushCursors: async () => undefined,
    call: async () => unexpected(),
    remind: unexpected,
    counted: unexpected,
    changed: unexpected,
    crashed: unexpected,
    fenced: unexpected,
  })
  const key: WebhookKey = { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 }
  const { updates, head } = await port.read(key, { filter: [], after: 0, limit: 100 })
  t.equal(head, 900)
  t.same(
    updates.map(({ updateId, lane }) => [updateId, lane]),
    rows.map(({ updateId, chatId }) => [updateId, `${chatId}`]),
  )
})
