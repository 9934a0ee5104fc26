/** Faults of the sandbox, and what heals them. */
import t from 'tap'
import { run } from './contract/recorder.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

t.test('what a silence held back flows when it ends', async (t) => {
  const { online, register, sandbox } = await stage(t)
  const { person, session, store } = await online()
  const { id } = await register()
  await sandbox.faults.put(person.id, { fault: 'silence' })
  await sandbox.actions.write(id, { to: person.id, text: 'into the silence' })
  const answer = sent(session, String(id), 'out of the silence')
  t.same(store.texts(), [])
  t.same(await sandbox.inboxes.messages(id, { chat: person.id, limit: 1, after: 1 }), [])
  await sandbox.faults.clear(person.id, 'silence')
  await store.message('into the silence')
  t.match(await answer, { content: { text: 'out of the silence' } })
})

t.test('a silence outlives the session, and so does a flood wait', async (t) => {
  const { online, open, sandbox } = await stage(t)
  const { person, session, store } = await online()
  await sandbox.faults.put(person.id, { fault: 'flood_wait', seconds: 50 })
  await sandbox.faults.put(person.id, { fault: 'silence' })
  await session.stop()
  const next = await open(store)
  t.match(await next.reported('limited'), ['flood_wait', Number])
  await t.rejects(next.session.probe(AbortSignal.timeout(200)))
})

t.test('a flood wait ends by itself', async (t) => {
  const { online, register, sandbox, time } = await stage(t)
  const { person, session } = await online()
  const { id } = await register()
  await sandbox.faults.put(person.id, { fault: 'flood_wait', seconds: 50 })
  t.equal((await refusalOf(perform(session, sending(String(id), 'x')))).code, 'rate_limited')
  time.ahead = 51_000
  await sent(session, String(id), 'x')
})

t.test('no connection comes about while the network is down', async (t) => {
  const { online, open, sandbox, time } = await stage(t)
  const { person, session, store } = await online()
  await sandbox.faults.put(person.id, { fault: 'drop', seconds: 60 })
  await session.reported('lost')
  const early = run(sandbox.platform, store)
  await early.reported('lost')
  time.ahead = 61_000
  await open(store)
})

t.test('reordered chats keep their own order', async (t) => {
  const { online, open, register, sandbox } = await stage(t)
  const { person, session, store } = await online()
  const people = [await register(), await register()]
  await session.stop()
  await sandbox.faults.put(person.id, { fault: 'reorder' })
  for (const text of ['1', '2']) {
    for (const [index, { id }] of people.entries()) {
      await sandbox.actions.write(id, { to: person.id, text: `${index}:${text}` })
    }
  }
  await open(store)
  await store.message('0:2')
  t.strictSame(store.texts(), ['1:1', '1:2', '0:1', '0:2'])
})

t.test('what was queued before the session came is recovered, posts only if wanted', async (t) => {
  const { online, register, sandbox, link } = await stage(t)
  const { person, store, session } = await online()
  const other = await register()
  const { chat } = await sandbox.chats.create({
    kind: 'channel',
    title: 'News',
    owner: other.id,
    members: [person.id],
  })
  await session.stop()
  const without = await link(person)
  await sandbox.actions.write(other.id, { to: Number(chat.native), text: 'missed post' })
  await sandbox.actions.write(other.id, { to: person.id, text: 'missed' })
  for (const [recoverChannels, log] of [
    [true, store],
    [false, without],
  ] as const) {
    const ending = new AbortController()
    t.teardown(() => ending.abort())
    const { identity, secrets, checkpoint } = log
    const recoversChannels = () => recoverChannels
    const account = { credentialId: 1, epoch: 1, identity, secrets, checkpoint, recoversChannels }
    const ignore = () => undefined
    const report = {
      ...{ opened: ignore, lost: ignore, limited: ignore, replaced: ignore },
      ...{
        skipped: ignore,
        passedOver: ignore,
        unshared: ignore,
        revoked: ignore,
        invalid: ignore,
        secrets: async () => undefined,
      },
      events: async (...batch: Parameters<typeof log.commit>) => log.commit(...batch),
    }
    sandbox.platform.open(account, report, ending.signal)
    t.match(await log.message('missed'), { recovered: true })
    t.equal(log.texts().includes('missed post'), recoverChannels)
  }
  await sandbox.actions.write(other.id, { to: Number(chat.native), text: 'live post' })
  const live = await without.message('live post')
  t.equal(live.recovered, undefined)
})

t.test('a slow network answers late, and not at all to those who leave', async (t) => {
  const { online, register, sandbox } = await stage(t)
  const { person, session } = await online()
  const { id } = await register()
  await sandbox.faults.put(person.id, { fault: 'delay', milliseconds: 150 })
  t.ok((await session.session.probe(AbortSignal.timeout(5_000))) >= 140)
  const send = session.session.perform(sending(String(id), 'x'), 'r', AbortSignal.timeout(20))
  t.match(await refusalOf(send), { code: 'timeout', certain: false })
})
