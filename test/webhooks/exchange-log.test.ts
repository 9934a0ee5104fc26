/** How often the log of exchanges looks at what a key's owner has chosen. */
import t from 'tap'
import type { AttemptRecord, WebhookExchange } from '../../actors/ports/webhooks.ts'
import { ExchangeLog } from '../../src/exchanges/log.ts'
import type { Vault } from '../../src/security/vault.ts'
import { only } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'
import { databaseOfUser } from './user.ts'

const key = { userId: 1, credentialId: 10, apiKeyId: 100_001, epoch: 1 }
const exchange: WebhookExchange = { headers: [], body: '{}', answer: undefined }
const worked = { ok: true, at: Date.now(), updateId: 1, attempt: 1 } as AttemptRecord

t.test('once the choice is known, one attempt in five seconds has it read again', async (t) => {
  const { database } = await databaseOfUser(t)
  await database.query(
    `do $$ begin set local session_replication_role = replica;
       insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
       overriding system value values (100001, 1, 10, 'one', '{}', sha256('one'), 'one', 0); end $$`,
  )
  const vault = only<Vault>(t, 'Vault', { seal: async () => Buffer.from('sealed') })
  const log = new ExchangeLog({ db: database, vault, logger: quietLogger, days: 1 })
  const asks = () => log.mayKeep(key.apiKeyId, true)

  t.strictSame([asks(), asks()], [true, true], 'until it is read, any attempt may be kept')
  log.add(key, worked, exchange)
  await log.flush()
  t.strictSame([asks(), asks()], [false, false], 'failures alone are kept')
  t.ok(log.mayKeep(key.apiKeyId, false))

  const later = Date.now() + 5_000
  t.intercept(Date, 'now', { value: () => later })
  t.ok(asks())
  await database.query(`update api_key set keeps_exchanges = 'all' where id = $1`, [key.apiKeyId])
  log.add(key, worked, exchange)
  t.strictSame([asks(), asks()], [false, false], 'the first attempt alone waits for the answer')
  await log.flush()
  t.strictSame([asks(), asks()], [true, true], 'the new choice holds')
  t.equal((await database.query('select from webhook_exchange')).length, 1, 'this attempt is kept')
  await database.query('update app_user set erasing_at = now()')
  log.add(key, worked, exchange)
  await log.flush()
  t.equal((await database.query('select from webhook_exchange')).length, 1, 'not of an erased user')
})

t.test('no encoding that an endpoint names keeps others from being stored', async (t) => {
  const { database } = await databaseOfUser(t)
  await database.query(
    `do $$ begin set local session_replication_role = replica;
       insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor,
         keeps_exchanges)
       overriding system value
         values (100001, 1, 10, 'one', '{}', sha256('one'), 'one', 0, 'all'); end $$`,
  )
  const sealed: string[] = []
  const seal: Vault['seal'] = async (_owner, _place, text) => {
    sealed.push(`${text}`)
    return Buffer.from('sealed')
  }
  const vault = only<Vault>(t, 'Vault', { seal })
  const log = new ExchangeLog({ db: database, vault, logger: quietLogger, days: 1 })
  const encodings = ['constructor', '__proto__', 'toString', 'gzip', 'GZIP']
  for (const [updateId, encoding] of encodings.entries()) {
    const answer = { headers: { 'content-encoding': encoding }, chunks: [Buffer.from('no zip')] }
    log.add(key, { ...worked, updateId }, { ...exchange, answer })
  }
  await log.flush()
  t.equal((await database.query('select from webhook_exchange')).length, encodings.length)
  t.ok(sealed.every((text) => text.includes('no zip')))
})
