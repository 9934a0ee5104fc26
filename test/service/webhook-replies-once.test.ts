/** The call in the answer to an update that is delivered again: the same call is executed once, another one is executed. */
import pg from 'pg'
import t from 'tap'
import { until } from '../support/client.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

const { service, client, ada, key, keyId } = await scene(t, {})
let text = 'an answer'
const receiver = await Receiver.open(t, (_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method: 'sendMessage', chat_id: ada.id, text }))
})
await client.bot(key, 'setWebhook', { url: receiver.url })
const answers = async () => {
  const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
  return messages
    .filter(({ from }: { from: { id: number } }) => from.id !== ada.id)
    .map(({ text }: { text: string }) => text)
    .toReversed()
}
const settled = () =>
  until(async () => {
    const { result } = (await client.bot(key, 'getWebhookInfo')).body
    return result.pending_update_count === 0
  })

const database = new pg.Client(service.databaseUrl)
await database.connect()
t.teardown(() => database.end())
/** What a crash leaves: the update is acknowledged, and that is not stored. */
await database.query(`
  create function keep_cursor() returns trigger language plpgsql as
    'begin new.cursor = old.cursor; new.webhook_progress = old.webhook_progress; return new; end';
  create trigger keep_cursor before update on api_key for each row execute function keep_cursor()`)

t.test('after a crash the same call is executed once, and another one is executed', async (t) => {
  await client.write(ada.id, '@gatebot', 'a question')
  await until(async () => (await answers()).length === 1)
  await service.restart()
  await receiver.count(2)
  t.equal(receiver.received[0]?.text, receiver.received[1]?.text, 'the same update')
  text = 'another answer'
  await service.restart()
  await receiver.count(3)
  await until(async () => (await answers()).includes('another answer'))
  t.same(await answers(), ['an answer', 'another answer'])
})

t.test('of an update that its owner sends again it is executed again', async (t) => {
  await database.query('drop trigger keep_cursor on api_key')
  await settled()
  const [{ update_id }] = receiver.received.map(({ update }) => update)
  const resend = { from_update_id: update_id, to_update_id: update_id }
  await client.result('POST', `/api_keys/${keyId}/webhook/resend`, resend)
  await until(async () => (await answers()).length === 3)
  t.same(await answers(), ['an answer', 'another answer', 'another answer'])
})

t.test('a call that the database keeps from beginning is executed a moment later', async (t) => {
  await database.query(`
    create sequence failures;
    create function fail_once() returns trigger language plpgsql as
      'begin if nextval(''failures'') = 1 then raise using errcode = ''57P01''; end if; return new; end';
    create trigger fail_once before insert on idempotent_call for each row execute function fail_once()`)
  text = 'a late answer'
  await client.write(ada.id, '@gatebot', 'a further question')
  await until(async () => (await answers()).includes('a late answer'))
  const { rows } = await database.query('select last_value from failures')
  t.equal(Number(rows[0].last_value), 2)
})
