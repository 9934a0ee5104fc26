/** What all networks share: each facility of the kit by itself. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import t from 'tap'
import type { LinkedAccount, Platform, SessionReport } from '../../actors/ports/platform.ts'
import type { TextEntity } from '../../machines/model/text.ts'
import { EventLine, NotStored } from '../../src/platforms/kit/event-line.ts'
import { readPages } from '../../src/platforms/kit/pages.ts'
import { definePlatform, linkInOneStep } from '../../src/platforms/kit/platform.ts'
import { Poller } from '../../src/platforms/kit/poller.ts'
import { SentRequests } from '../../src/platforms/kit/sent-requests.ts'
import { SessionLife, unlessAborted } from '../../src/platforms/kit/session-life.ts'
import { reportRestriction } from '../../src/platforms/kit/steadily.ts'
import { withLinkTargets } from '../../src/platforms/kit/text.ts'
import { fileIn } from '../../src/platforms/xmpp/media/download.ts'
import fc from '../support/fast-check.ts'
import { quietLogger } from '../support/logger.ts'
import { refusalOf } from './contract/scene.ts'

const account: LinkedAccount = {
  credentialId: 1,
  epoch: 1,
  identity: { native: '1', firstName: 'Ada' },
  secrets: { token: 'right' },
  checkpoint: null,
  recoversChannels: () => false,
}

/** Notes what is reported, in order. */
function recorder() {
  const reports: unknown[][] = []
  const note =
    (name: string) =>
    (...given: unknown[]) => {
      reports.push([name, ...given])
    }
  const names = ['opened', 'lost', 'limited', 'replaced', 'revoked', 'invalid', 'skipped'] as const
  const noted = Object.fromEntries(names.map((name) => [name, note(name)]))
  return { reports, report: noted as unknown as SessionReport }
}

function platform(closed: (signOut: boolean) => void = () => undefined): Platform {
  const unused = () => Promise.reject(new Error('not used here'))
  return definePlatform({
    id: 'example',
    name: 'Example',
    ids: 'integer',
    sessions: 'shared',
    sends: 'blind',
    linkMethods: [
      { method: 'token', fields: [] },
      { method: 'qr', fields: [] },
    ],
    capabilities: {
      operations: [],
      surfaces: [],
      content: [],
      buttons: false,
      entities: [],
      updates: [],
      limits: { textLength: 1 },
    },
    logger: quietLogger,
    startLink: (_method, _fields, signal) =>
      linkInOneStep(
        async () => ({ kind: 'done', account: account.identity, secrets: account.secrets }),
        signal,
      ),
    parseSecrets: (stored) => (JSON.stringify(stored).includes('right') ? 'right' : undefined),
    open: () => ({
      perform: unused,
      probe: unused,
      download: unused,
      close: async ({ signOut }) => closed(signOut),
    }),
  })
}

t.test('a link begins with one of the methods, and may have no second step', async (t) => {
  const { signal } = new AbortController()
  t.match(await refusalOf(platform().startLink('phone', {}, signal)), {
    code: 'bad_request',
    description: 'field "method" must be token or qr',
  })
  const attempt = await platform().startLink('token', {}, signal)
  t.equal(attempt.step.kind, 'done')
  const over = { code: 'conflict', description: 'the link has no further step' }
  t.match(await refusalOf(attempt.answer({ kind: 'code', code: '1' }, signal)), over)
  t.match(await refusalOf(attempt.changed(signal)), over)
  t.match(await refusalOf(platform().resumeLink(null, signal)), over)
  await t.rejects(platform().startLink('qr', {}, AbortSignal.abort()), { name: 'AbortError' })
})

t.test('an account whose secrets are unreadable is invalid, after open has returned', async (t) => {
  const { reports, report } = recorder()
  const { signal } = new AbortController()
  const session = platform().open({ ...account, secrets: { token: 'wrong' } }, report, signal)
  t.same(reports, [])
  t.match(await refusalOf(session.probe(signal)), { code: 'unavailable' })
  t.same(reports, [['invalid', 'secrets_unreadable']])
  await session.close({ signOut: true })
})

t.test('a session is closed, and stays signed in, when its signal aborts', async (t) => {
  const closed: boolean[] = []
  const living = new AbortController()
  platform((signOut) => closed.push(signOut)).open(account, recorder().report, living.signal)
  t.same(closed, [])
  living.abort()
  t.same(closed, [false])
})

t.test('a session ends once, and what is under way learns why', async (t) => {
  const { reports, report } = recorder()
  const released: unknown[] = []
  const life = new SessionLife({
    report,
    logger: quietLogger,
    facts: {},
    release: async (cause) => {
      released.push(cause)
      throw new Error('the connection is gone already')
    },
  })
  const { signal } = new AbortController()
  const waiting = unlessAborted(new Promise(() => undefined), life.within(signal))
  const cause = new Error('the server says goodbye')
  life.end({ kind: 'lost', reason: 'network', retryAfterSeconds: 3 }, cause)
  life.end({ kind: 'revoked', reason: 'session_revoked' })
  await life.close()
  await t.rejects(waiting, cause)
  t.same(reports, [['lost', 'network', 3]])
  t.same(released, [cause])
  t.ok(life.isOver)
})

t.test('a closed session reports nothing', async (t) => {
  const { reports, report } = recorder()
  const life = new SessionLife({
    report,
    logger: quietLogger,
    facts: {},
    release: async () => undefined,
  })
  await life.close()
  life.end({ kind: 'replaced' })
  t.same(reports, [])
})

t.test('each way to end is reported by its own name', async (t) => {
  const { reports, report } = recorder()
  const facts = { report, logger: quietLogger, facts: {}, release: async () => undefined }
  new SessionLife(facts).end({ kind: 'replaced' })
  new SessionLife(facts).end({ kind: 'revoked', reason: 'password_changed' })
  new SessionLife(facts).end({ kind: 'invalid', reason: 'account_banned' })
  t.same(reports, [['replaced'], ['revoked', 'password_changed'], ['invalid', 'account_banned']])
})

t.test(
  'events are stored one batch after the other, and a failure stops only its own',
  async (t) => {
    const stored: unknown[] = []
    const gate = Promise.withResolvers<void>()
    const line = new EventLine({
      async events(_happenings, checkpoint) {
        if (checkpoint === 1) await gate.promise
        if (checkpoint === 2) throw new Error('the log is away')
        stored.push(checkpoint)
      },
    })
    const all = [1, 2, 3].map((checkpoint) => line.run(() => line.store([], checkpoint)))
    const settled = Promise.allSettled(all)
    await new Promise(setImmediate)
    t.same(stored, [])
    gate.resolve()
    const [first, second, third] = await settled
    t.equal(first?.status, 'fulfilled')
    t.ok(second?.status === 'rejected' && second.reason instanceof NotStored)
    t.equal(third?.status, 'fulfilled')
    t.same(stored, [1, 3])
  },
)

t.test('a wait is given up when the signal aborts, and not before', async (t) => {
  const { signal } = new AbortController()
  t.equal(await unlessAborted(Promise.resolve(1), signal), 1)
  await t.rejects(unlessAborted(Promise.reject(new Error('no')), signal), { message: 'no' })
  const leaving = new AbortController()
  const late = Promise.withResolvers<void>()
  const waiting = unlessAborted(late.promise, leaving.signal)
  leaving.abort(new Error('gone'))
  await t.rejects(waiting, { message: 'gone' })
  late.reject(new Error('nobody waits for this any more'))
})

const bytesOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

t.test('a file begins where it is wanted, with and without ranges on the server', async (t) => {
  const answer = (status: number, text: string, headers: Record<string, string> = {}) => ({
    status,
    headers: { 'content-length': `${text.length}`, ...headers },
    body: Readable.from([Buffer.from(text)]),
  })
  const whole = fileIn(answer(200, 'abcdef'), 2, { name: 'a.txt' })
  t.match(whole, { size: 6, name: 'a.txt' })
  t.equal(await bytesOf(whole!.stream), 'cdef')
  const part = fileIn(answer(206, 'cdef'), 2, {})
  t.equal(part?.size, 6)
  t.equal(await bytesOf(part!.stream), 'cdef')
  const end = fileIn(answer(416, 'too far'), 6, {})
  t.equal(await bytesOf(end!.stream), '')
  const error = answer(404, 'not here')
  t.equal(fileIn(error, 0, {}), undefined)
  t.ok(error.body.destroyed)
})

t.test('beside its words the target of a link moves no other entity off its own', async (t) => {
  const target = ' (https://a.example)'
  const words = fc.array(fc.constantFrom('a', 'bc', 'سلام', '👋', '\n'), { minLength: 1 })
  const ranges = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 9 }), fc.boolean()))
  const without = (text: string) => text.replaceAll(target, '')
  const keepsWords = fc.property(words, ranges, (parts, wanted) => {
    const text = parts.join(' ')
    const entities: TextEntity[] = wanted
      .map(([offset, length, isLink]) => ({
        offset,
        length: Math.min(length, text.length - offset),
        ...(isLink ? { type: 'text_link', url: 'https://a.example' } : { type: 'bold' }),
      }))
      .filter(({ length }) => length > 0)
    const plain = withLinkTargets({ text, entities })
    const links = entities.filter(({ url }) => url !== undefined)
    assert.equal(without(plain.text), text)
    assert.equal(plain.text.length, text.length + links.length * target.length)
    for (const [index, { offset, length }] of plain.entities.entries()) {
      const { offset: from, length: by } = entities[index]!
      assert.equal(without(plain.text.slice(offset, offset + length)), text.slice(from, from + by))
    }
  })
  t.doesNotThrow(() => fc.assert(keepsWords))
})

t.test('the next poll follows once the events of this one are stored', async (t) => {
  const { signal } = new AbortController()
  const steps: unknown[] = []
  let isAway = false
  const poller = new Poller<number>({
    report: {
      async events(happenings, checkpoint) {
        if (isAway) throw new Error('the log is away')
        await new Promise(setImmediate)
        steps.push(['stored', happenings.length, checkpoint])
      },
    },
    cursor: undefined,
    checkpointOf: (number) => ({ number }),
    async read(cursor = 0) {
      steps.push(['read', cursor])
      return { happenings: [], cursor: cursor + 1 }
    },
  })
  await poller.poll(signal)
  isAway = true
  await t.rejects(poller.poll(signal), { name: 'NotStored' })
  isAway = false
  await poller.poll(signal)
  t.same(steps, [
    ['read', 0],
    ['stored', 0, { number: 1 }],
    ['read', 1],
    // What was not stored is asked for again.
    ['read', 1],
    ['stored', 0, { number: 2 }],
  ])
})

t.test(
  'a server that brings nothing, or the same again, is not asked without a pause',
  async (t) => {
    const { signal } = new AbortController()
    const pollerOf = (cursor: number | undefined) =>
      new Poller<number>({
        report: { events: async () => undefined },
        cursor: 7,
        checkpointOf: (number) => number,
        read: async () => ({ happenings: [], cursor }),
      })
    for (const poller of [pollerOf(undefined), pollerOf(7)]) {
      const began = performance.now()
      for (let poll = 0; poll < 5; poll++) await poller.poll(signal)
      t.ok(performance.now() - began >= 90, 'five polls take a hundred milliseconds')
    }
    await t.rejects(pollerOf(7).poll(AbortSignal.abort()), { name: 'AbortError' })
  },
)

t.test('polls go on through restrictions until a failure ends them', async (t) => {
  const { reports, report } = recorder()
  const { signal } = new AbortController()
  const failures = [
    { kind: 'limited', seconds: 0.01 },
    { kind: 'lost', reason: 'network' },
  ] as const
  let polls = 0
  const poller = new Poller<number>({
    report: { events: async () => undefined },
    cursor: undefined,
    checkpointOf: (number) => number,
    async read() {
      polls += 1
      if (polls === 2) return undefined
      throw failures[polls === 1 ? 0 : 1]
    },
  })
  const endingOf = (cause: unknown) => cause as (typeof failures)[number]
  await t.rejects(poller.run({ report, signal, endingOf }))
  t.equal(polls, 3)
  t.same(reports, [['limited', 'flood_wait', 0.01]])
})

t.test('only a longer wait than that of one chat restricts the account', async (t) => {
  const { reports, report } = recorder()
  reportRestriction(report, 60, 60)
  reportRestriction(report, 61, 60)
  reportRestriction(report, 1)
  t.same(reports, [
    ['limited', 'flood_wait', 61],
    ['limited', 'flood_wait', 1],
  ])
})

t.test('pages are read up to the last one, and never the same one for ever', async (t) => {
  const all = ['a', 'b', 'c', 'd', 'e']
  const asked: number[] = []
  const read = async (from: number) => {
    asked.push(from)
    const keys = all.slice(from, from + 2)
    return { keys, isLast: from + 2 >= all.length, next: () => from + 2 }
  }
  const whole = await readPages(0, read)
  t.same({ ...whole, keys: [...whole.keys] }, { keys: all, isWhole: true })
  t.same(asked, [0, 2, 4])
  const bounded = await readPages(0, read, { most: 3 })
  t.same({ ...bounded, keys: [...bounded.keys] }, { keys: all.slice(0, 4), isWhole: false })
  let pages = 0
  const again = await readPages('x', async () => {
    pages += 1
    return { keys: ['a'], isLast: false, next: () => 'x' }
  })
  t.same([pages, again.isWhole], [2, false], 'the second time nothing is new')
  const empty = await readPages('x', async () => ({
    keys: [],
    isLast: false,
    next: () => undefined,
  }))
  t.ok(empty.isWhole)
})

t.test('a session knows what it has sent by the ids of its requests and of the chat', async (t) => {
  const sent = new SentRequests()
  sent.add('one', 1)
  sent.add('two', 2)
  sent.place('two', 'native')
  sent.confirm('two')
  t.ok(sent.has('one'))
  t.same(sent.find('two'), { at: 2, confirmed: true, native: 'native' })
  t.same(sent.findNative('native'), { id: 'two', at: 2 })
  t.equal(sent.findNative('two'), undefined, 'the chat knows it by another id')
  t.same(sent.findNative('one'), { id: 'one', at: 1 })
  sent.forget('one')
  t.notOk(sent.has('one'))
  for (let more = 0; more < 500; more++) sent.add(`${more}`)
  t.notOk(sent.has('two'), 'only the latest are remembered')
})
