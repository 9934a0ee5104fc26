/** A key with a webhook: one mode at a time, one change at a time, and every call answered once. */
import t from 'tap'
import type { ChangeWebhook } from '../../../machines/api-key/events.ts'
import type { WebhookFacts } from '../../../machines/webhook/terms.ts'
import { admit, begin, held, keyInput, page, poll } from './rig.ts'

const facts: WebhookFacts = {
  url: 'https://bot.example/',
  ipAddress: undefined,
  maxConnections: 40,
  secretToken: undefined,
  certificate: undefined,
  trouble: undefined,
  suspended: false,
  progress: undefined,
}
const set = (requestId: string): ChangeWebhook => ({
  type: 'webhook.change',
  requestId,
  change: { kind: 'set', target: facts, dropTo: undefined },
})
const changed = (requestId: string, webhook: WebhookFacts | undefined, cursor = 100) =>
  ({ type: 'webhook.changed', requestId, changed: { webhook, cursor } }) as const

const conflicts = ({ replies }: ReturnType<typeof begin>) =>
  replies.map(({ requestId, outcome }) => [
    requestId,
    outcome.ok ? undefined : outcome.failure.description,
  ])
const effects = ({ effects: done }: ReturnType<typeof begin>) => done.map(({ type }) => type)

const active =
  "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"

t.test('setting one carries the change out, then delivers', async (t) => {
  const walk = begin().send(set('s'))
  t.equal(walk.state, 'usable.changing')
  t.same(effects(walk), ['change'])
  walk.send(changed('s', facts, 140))
  t.equal(walk.state, 'usable.webhook')
  t.same(effects(walk), ['deliver'])
  t.same(conflicts(walk), [['s', undefined]])
  t.equal(walk.snapshot.context.cursor, 140)
})

t.test('a key that has one delivers from the start', async (t) => {
  t.equal(begin({ webhook: facts }).state, 'usable.webhook')
})

t.test('the poll that waits ends when one is set', async (t) => {
  const walk = held('p1').send(set('s'))
  t.same(conflicts(walk), [['p1', 'terminated by setWebhook request']])
  t.ok(effects(walk).includes('stopListening'))
  t.equal(walk.snapshot.context.waiting, undefined)
  walk.send(changed('s', facts))
  t.equal(walk.snapshot.context.lastPoll, undefined, 'nor is the time of its poll stored again')
})

t.test('a poll that is being read does not wait any more', async (t) => {
  const walk = begin().send(poll('p1'))
  const asked = walk.effects.find(({ type }) => type === 'read')?.params
  walk.send(set('s')).send(page(asked as Parameters<typeof page>[0]))
  t.same(conflicts(walk), [['p1', 'terminated by setWebhook request']])
  t.equal(walk.state, 'usable.changing')
})

t.test('polls are refused while one is set or being set', async (t) => {
  t.same(conflicts(begin({ webhook: facts }).send(poll('p'))), [['p', active]])
  t.same(conflicts(begin().send(set('s')).send(poll('p'))), [['p', active]])
})

t.test('a second refusal within three seconds is held back', async (t) => {
  const walk = begin({ webhook: facts }).send(poll('p1'))
  walk.send(poll('p2', { now: 1_002_000 }))
  t.same(walk.replies, [])
  t.same(conflicts(walk.elapseRaised('conflict.due')), [['p2', active]])
})

t.test('who may not poll at all is told that', async (t) => {
  const terms = { scopes: ['bot:send' as const], expiresAt: undefined }
  const walk = begin({ webhook: facts, terms }).send(poll('p'))
  t.same(conflicts(walk), [['p', 'the key lacks the scope bot:receive']])
})

t.test('an older change gives way to a newer one', async (t) => {
  const walk = begin().send(set('s1')).send(set('s2'))
  t.same(conflicts(walk), [['s1', 'terminated by other setWebhook']])
  t.same(conflicts(walk.send(changed('s1', facts))), [])
  t.same(conflicts(walk.send(changed('s2', facts))), [['s2', undefined]])
})

t.test('a change that is refused leaves what there was', async (t) => {
  const failure = { code: 'bad_request', description: 'no' } as const
  const refused = { type: 'webhook.unchanged', requestId: 's', failure } as const
  t.equal(begin().send(set('s')).send(refused).state, 'usable.quiet')
  const walk = begin({ webhook: facts }).send(set('s'))
  t.ok(effects(walk).includes('stopDelivering'))
  walk.send(refused)
  t.equal(walk.state, 'usable.webhook')
  t.same(conflicts(walk), [['s', 'no']])
})

t.test('deleting one lets the key be polled again', async (t) => {
  const change = { kind: 'delete', dropTo: undefined } as const
  const walk = begin({ webhook: facts }).send({ type: 'webhook.change', requestId: 'd', change })
  walk.send(changed('d', undefined))
  t.equal(walk.state, 'usable.quiet')
  t.same(effects(walk.send(poll('p'))), ['saveCursor', 'read'])
})

t.test('a key that is revoked meanwhile answers its change all the same', async (t) => {
  const walk = begin().send(set('s')).send({ type: 'key.revoke', requestId: 'k' })
  walk.send(changed('s', facts))
  t.same(
    walk.replies.map(({ requestId, outcome }) => [requestId, outcome.ok]),
    [['s', false]],
  )
  t.same(walk.send(changed('s', facts)).replies, [], 'once')
})

t.test('a key that ends delivers no more', async (t) => {
  const walk = begin({ webhook: facts }).send({ type: 'key.revoke', requestId: 'k' })
  t.same(effects(walk), ['stopDelivering'])
})

t.test('the cursor follows what is acknowledged, and never goes back by that', async (t) => {
  const walk = begin({ webhook: facts }).send({ type: 'webhook.moved', cursor: 130 })
  walk.send({ type: 'webhook.moved', cursor: 120 })
  t.equal(walk.snapshot.context.cursor, 130)
})

t.test('a change that another one overtook was stored all the same', async (t) => {
  const failure = { code: 'bad_request', description: 'no' } as const
  const walk = begin({ webhook: facts }).send(set('first')).send(set('second'))
  const moved = { ...facts, url: 'https://elsewhere.example/' }
  walk.send(changed('first', moved))
  t.equal(walk.state, 'usable.changing')
  t.same(walk.replies, [], 'its caller was told before')
  walk.send({ type: 'webhook.unchanged', requestId: 'second', failure })
  t.equal(walk.state, 'usable.webhook')
  t.equal(walk.snapshot.context.webhook.url, moved.url)
})

t.test('a change that fails late ends none that has followed it', async (t) => {
  const failure = { code: 'bad_request', description: 'no' } as const
  const walk = begin().send(set('first')).send(set('second'))
  walk.send({ type: 'webhook.unchanged', requestId: 'first', failure })
  t.equal(walk.state, 'usable.changing')
  t.same(walk.replies, [])
  t.equal(walk.send(changed('second', facts)).state, 'usable.webhook')
})

t.test('a delivery that stops leaves its standing to the next one', async (t) => {
  const trouble = { failures: 3, since: 1, goneSince: undefined, dueAt: 9 }
  const standing = { trouble, suspended: false, progress: undefined }
  const stopped = { type: 'webhook.stopped', standing } as const
  const walk = begin({ webhook: facts }).send(set('s'), stopped)
  t.same(walk.snapshot.context.webhook, { ...facts, trouble })
  walk.send({
    type: 'webhook.unchanged',
    requestId: 's',
    failure: { code: 'internal', description: '' },
  })
  t.equal(walk.state, 'usable.webhook')
  t.same(walk.snapshot.context.webhook, { ...facts, trouble })
  t.equal(begin().send(stopped).snapshot.context.webhook, undefined, 'without a webhook')
})

t.test('a suspended user is delivered nothing, and a change under way is adopted', async (t) => {
  const suspension = { code: 'forbidden', description: 'stopped' } as const
  const suspended = { type: 'user.suspended', suspension } as const
  const resumed = { type: 'user.resumed' } as const
  const walk = begin({ webhook: facts }).send(suspended)
  t.same(effects(walk), ['stopDelivering'])
  const trouble = { failures: 1, since: 1, goneSince: undefined, dueAt: 2 }
  const standing = { trouble, suspended: false, progress: undefined }
  walk.send({ type: 'webhook.stopped', standing })
  t.same(effects(walk.send(resumed)), ['deliver'])
  t.match(walk.snapshot.context.webhook, { trouble }, 'it goes on where it stopped')

  const changing = begin().send(set('s')).send(suspended)
  t.equal(changing.state, 'suspended')
  t.same(conflicts(changing.send(changed('s', facts, 140))), [['s', undefined]])
  t.same(effects(changing), [])
  changing.send(resumed)
  t.equal(changing.state, 'usable.webhook')
  t.equal(changing.snapshot.context.cursor, 140)
  const failing = begin().send(set('s')).send(suspended)
  const failure = { code: 'bad_request', description: 'no such host' } as const
  failing.send({ type: 'webhook.unchanged', requestId: 's', failure })
  t.same(conflicts(failing), [['s', 'no such host']])
  t.equal(failing.send(resumed).state, 'usable.quiet')
})

t.test('a change outlasts a suspension and an expiry, and is made once', async (t) => {
  const suspension = { code: 'forbidden', description: 'stopped' } as const
  const { terms } = keyInput()
  const expiring = () => {
    const walk = begin({ webhook: facts, terms: { ...terms, expiresAt: 5_000 } }).send(set('s'))
    t.equal(walk.send(admit('c', { now: 5_000 })).state, 'expired')
    return walk.send({ type: 'key.changed', requestId: 'k', terms })
  }
  const suspended = () => {
    const walk = begin({ webhook: facts }).send(set('s'))
    return walk.send({ type: 'user.suspended', suspension }, { type: 'user.resumed' })
  }
  for (const walkOf of [expiring, suspended]) {
    const walk = walkOf()
    t.equal(walk.state, 'usable.changing')
    t.same(effects(walk), [], 'neither made again nor delivered to the old endpoint')
    walk.send(changed('s', { ...facts, url: 'https://other.example/' }, 140))
    t.same(conflicts(walk), [['s', undefined]])
    t.same(effects(walk), ['deliver'])
    t.match(walk.snapshot.context, { webhook: { url: 'https://other.example/' }, cursor: 140 })
    t.equal(walk.snapshot.context.changing, undefined)
    const failing = walkOf()
    const failure = { code: 'bad_request', description: 'no such host' } as const
    failing.send({ type: 'webhook.unchanged', requestId: 's', failure })
    t.same(conflicts(failing), [['s', 'no such host']])
    t.equal(failing.state, 'usable.webhook', 'the old one goes on')
  }
})
