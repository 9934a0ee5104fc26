/** Of two answers to one query at once, one is sent, and only who gave it is told so, in whichever order they are stored. */
import pg from 'pg'
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, ada, key } = await scene(t, {})
const joe = await client.person('Joe', 'joe_joe')
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const TOO_OLD = 'query is too old and response timeout expired or query ID is invalid'

/** Holds the first statement that marks a query of this table as answered until `released`. */
function holdMark(t: { teardown(work: () => void): void }, table: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  const mark = new RegExp(`^\\s*update ${table} set (is_answered|answer = '{}')`)
  const query = pg.Client.prototype.query
  let isFirst = true
  pg.Client.prototype.query = function holding(this: pg.Client, ...given: unknown[]) {
    const [asked] = given
    const text = typeof asked === 'string' ? asked : (asked as { text: string }).text
    if (!isFirst || !mark.test(text)) return Reflect.apply(query, this, given)
    isFirst = false
    hold()
    return released.then(() => Reflect.apply(query, this, given))
  } as typeof query
  t.teardown(() => {
    pg.Client.prototype.query = query
  })
  return { held, release }
}

const ways = {
  answerWebAppQuery: {
    table: 'sandbox_web_app',
    async query() {
      const open = { bot: '@gatebot', chat: joe.id, url: 'https://app.invalid/two' }
      const { query_id } = await client.result('POST', `/sandbox/people/${ada.id}/web_apps`, open)
      return { web_app_query_id: query_id }
    },
  },
  answerGuestQuery: {
    table: 'sandbox_inline_query',
    async query() {
      await client.write(ada.id, joe.id, 'ask @gatebot')
      const [update] = (await call('getUpdates', { offset: -1, timeout: 20 })).body.result
      return { guest_query_id: update.guest_message.guest_query_id }
    },
  },
}

for (const [method, { table, query }] of Object.entries(ways)) {
  t.test(method, async (t) => {
    const named = await query()
    const answer = (text: string) => {
      const input_message_content = { message_text: text }
      const result = { type: 'article', id: '1', title: 'It', input_message_content }
      return call(method, { ...named, result })
    }
    const inbox = async () =>
      (await client.result('GET', `/sandbox/people/${joe.id}/inbox?chat=${ada.id}`)).messages
    const before = (await inbox()).length
    const { held, release } = holdMark(t, table)
    const late = answer('late')
    await held
    t.match(await answer('in time'), { status: 200 })
    release()
    t.match(await late, refused(400, `Bad Request: ${TOO_OLD}`))
    const messages = await inbox()
    t.equal(messages.length, before + 1)
    t.equal(messages[0].text, 'in time')
  })
}
