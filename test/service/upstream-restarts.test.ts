/** A gateway behind a gateway: nothing is lost when either restarts, and what ends a bot is seen for what it is. */
import t from 'tap'
import { linkBot, receive, startChain, type Update } from '../platforms/upstream-bot/chain.ts'

const chain = await startChain(t)
const { inner, outer, near, far, bot, ada, token, tokenId, credentialId, outerKey } = chain
const write = (text: string) => near.write(ada.id, bot.id, text)
/** An owner before may take the updates back for a minute after a restart, so that a stranger is known only then. */
const SETTLED_MS = 90_000
const textOf = (update?: Update) => (update?.message as { readonly text?: string })?.text

t.test('messages come once each, in order, whichever of the two restarts', async (t) => {
  const texts = Array.from({ length: 20 }, (_, number) => `message ${number}`)
  const [begin, during, between, after, end] = [0, 4, 8, 12, 16].map((at) =>
    texts.slice(at, at + 4),
  )
  const writeAll = async (some: readonly string[] = []) => {
    for (const text of some) await write(text)
  }
  await writeAll(begin)
  await Promise.all([outer.restart(), writeAll(during)])
  await writeAll(between)
  await inner.restart()
  await writeAll(after)
  await Promise.all([inner.restart(), outer.restart()])
  await writeAll(end)
  const updates = await receive(far, outerKey, (some) => textOf(some.at(-1)) === texts.at(-1))
  t.strictSame(updates.map(textOf), texts)
  const ids = updates.map(({ update_id }) => update_id)
  t.ok(ids.every((id, place) => place === 0 || id === ids[place - 1]! + 1))
})

t.test('a token links once: again it is the same account', async (t) => {
  t.equal(await linkBot(far, { token }), credentialId)
  await write('after linking again')
  const isThere = (some: readonly Update[]) => textOf(some.at(-1)) === 'after linking again'
  t.ok(await receive(far, outerKey, isThere))
})

t.test('another poller takes the updates over, until the account is restarted', async (t) => {
  const over = new AbortController()
  // So soon after a start the first time may be the owner before, which has not heard yet.
  const polling = (async () => {
    for (;;) {
      const answer = await near.bot(token, 'getUpdates', { timeout: 1 })
      if (over.signal.aborted && answer.status === 200) return answer
    }
  })()
  const record = await far.state(credentialId, 'failed', SETTLED_MS)
  over.abort()
  t.match(record, { reason: 'replaced_elsewhere' }, JSON.stringify(record))
  t.match(await polling, { status: 200 })
  t.match(await far.bot(outerKey, 'sendMessage', { chat_id: ada.id, text: 'x' }), { status: 403 })
  await far.result('POST', `/platforms/credentials/${credentialId}/restart`)
  await far.state(credentialId, 'active')
  const sent = await far.bot(outerKey, 'sendMessage', { chat_id: ada.id, text: 'back' })
  t.match(sent.body, { ok: true })
})

t.test('a webhook in the way is told of, and deleted only with consent', async (t) => {
  const innerId = await near.link(await near.person('Second', 'second_bot'))
  const { key } = await near.key(innerId)
  const url = 'http://127.0.0.1:9/hidden-path'
  t.match(await near.bot(key, 'setWebhook', { url }), { body: { ok: true } })
  const start = (more: object = {}) =>
    far.ask('POST', '/platforms/telegram-bot/link/start', { token: key, ...more })
  const refused = await start()
  t.equal(refused.status, 400, JSON.stringify(refused.body))
  t.equal(
    refused.body.description,
    'Bad Request: the bot delivers its updates to a webhook at 127.0.0.1:9; ' +
      'delete it there, or link again with "delete_webhook": "true"',
  )
  t.match((await near.bot(key, 'getWebhookInfo')).body, { result: { url } })
  t.match((await start({ delete_webhook: 'true' })).body, { result: { state: 'linked' } })
  t.match((await near.bot(key, 'getWebhookInfo')).body, { result: { url: '' } })
})

t.test('wrong tokens are refused by name', async (t) => {
  for (const [given, text] of [
    ['no token', /^Bad Request: field "token" must be a bot token/],
    [`${token.split(':')[0]}:${'x'.repeat(43)}`, /^Bad Request: telegram bots refused the token/i],
    ['../../x:aaaaaaaaaaaaaaaaaaaaa', /field "token"/],
  ] as const) {
    const { status, body } = await far.ask('POST', '/platforms/telegram-bot/link/start', {
      token: given,
    })
    t.equal(status, 400)
    t.match(body.description, text)
  }
})

t.test('a token that was taken back logs the account out', async (t) => {
  await near.result('DELETE', `/api_keys/${tokenId}`)
  t.match(await far.state(credentialId, 'logged_out'), { reason: 'session_revoked' })
})
