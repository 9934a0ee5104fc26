/** What is known of an operation that the network did not answer in time. */
import t, { type Test } from 'tap'
import { type CredentialActor, perform } from '../../../actors/credential/actor.ts'
import { cutShort } from '../../../actors/credential/perform.ts'
import type { Appended, Identities } from '../../../actors/ports/ports.ts'
import { failed, OwnershipLost, RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { settled } from '../../support/clock.ts'
import { FakeCredentialStore, somebody } from '../../support/fakes.ts'
import { refused } from '../refused.ts'
import { CredentialRig, everything, timing } from './rig.ts'

// A limit alone keeps no process running.
const running = setInterval(() => undefined, 1_000)
t.teardown(() => clearInterval(running))

const silence = new Promise<never>(() => undefined)
const send = {
  type: 'operation.perform',
  now: 0,
  operation: {
    kind: 'send',
    chat: '@ada',
    content: { kind: 'text', text: 'x', entities: [] },
  },
} as const

/** A chat is known by its name alone. */
const identities = {
  toNative: async (
    _: number,
    operation: Operation,
    resolve: (name: string) => Promise<unknown>,
  ) => {
    await resolve('@ada')
    return operation
  },
  identified: () => undefined,
} as unknown as Identities

type Ask = (actor: CredentialActor) => Promise<unknown>

/** A call asks the effects of an account that is online directly; a command that may be abandoned goes to its machine. */
const ways: Readonly<Record<string, Ask>> = {
  'asked directly': (actor) => perform(actor, send),
  'by the machine': (actor) => actor.ask(send),
}

const every = (name: string, test: (t: Test, ask: Ask) => Promise<void>) => {
  for (const [way, ask] of Object.entries(ways)) t.test(`${name} (${way})`, (t) => test(t, ask))
}

async function failureOf(t: Test, ask: Ask, silent: Operation['kind']) {
  const rig = new CredentialRig(t, { identities, timing: { ...timing, performTakes: 30 } })
  const actor = await rig.online()
  rig.platform.session.onPerform = ({ kind }) =>
    kind === silent ? silence : Promise.resolve({ kind: 'done' } as OperationResult)
  const cause: unknown = await ask(actor).catch((cause: unknown) => cause)
  if (cause instanceof RequestFailed) return cause.failure
  throw new Error('it was not refused')
}

every('a message that was handed over may have been sent', async (t, ask) => {
  t.same(await failureOf(t, ask, 'send'), {
    code: 'timeout',
    description: 'the platform did not answer in time; the message may have been sent',
    reason: 'sent_unconfirmed',
    certain: false,
  })
})

every('a message may have been sent where its network was cut off meanwhile', async (t, ask) => {
  const rig = new CredentialRig(t, { identities })
  const actor = await rig.online()
  const away = (certainty: object) => () =>
    Promise.reject(failed('unavailable', 'away', { retryAfterSeconds: 1, ...certainty }))
  rig.platform.session.onPerform = away({})
  await refused(t, ask(actor), { code: 'unavailable', retryAfterSeconds: 1 })
  rig.platform.session.onPerform = ({ kind }) =>
    kind === 'resolve'
      ? Promise.resolve({ kind: 'done' } as OperationResult)
      : away({ certain: false })()
  const told = { code: 'timeout', reason: 'sent_unconfirmed', certain: false } as const
  await refused(t, ask(actor), {
    description: 'the platform did not answer in time; the message may have been sent',
    ...told,
  })
  rig.platform.session.onPerform = away({ certain: false })
  await refused(t, ask(actor), { code: 'unavailable', retryAfterSeconds: 1 })
})

every('so may one that was sent in part before the network asked to wait', async (t, ask) => {
  const rig = new CredentialRig(t, { identities })
  const actor = await rig.online()
  const waiting = (certainty: object) =>
    Promise.reject(failed('rate_limited', '', { retryAfterSeconds: 10, ...certainty }))
  const done = { kind: 'done' } as OperationResult
  let certainty = {}
  rig.platform.session.onPerform = ({ kind }) =>
    kind === 'resolve' ? Promise.resolve(done) : waiting(certainty)
  await refused(t, ask(actor), { code: 'rate_limited', retryAfterSeconds: 10 })
  certainty = { certain: false }
  await refused(t, ask(actor), { code: 'timeout', reason: 'sent_unconfirmed', certain: false })
})

every('where the chat was not even found in time, nothing was sent', async (t, ask) => {
  t.same(await failureOf(t, ask, 'resolve'), {
    code: 'timeout',
    description: 'no answer in time',
    reason: 'no_answer',
  })
})

t.test('what only looks may be asked again, whatever it looks at', async (t) => {
  const cut = (kind: string) =>
    cutShort({ ...send, requestId: 'r', operation: { kind } } as unknown as Parameters<
      typeof cutShort
    >[0])
  const looks = ['resolve', 'describe', 'administrators', 'count_members', 'member']
  for (const kind of [...looks, 'profile_photos', 'profile_audios', 'sticker_set'])
    t.equal(cut(kind), undefined, kind)
  const untold = 'the credential stopped before the platform answered; '
  const described = (kind: string) => JSON.stringify(cut(kind))
  for (const kind of ['send', 'send_album', 'forward', 'copy']) {
    t.match(described(kind), `${untold}the message may have been sent"`, kind)
  }
  for (const kind of ['delete', 'edit_text', 'pin', 'ban', 'draft']) {
    t.match(described(kind), `${untold}it may have been done"`, kind)
  }
})

every('nothing is sent while it is not certain who owns the account', async (t, ask) => {
  const rig = new CredentialRig(t, { identities })
  const actor = await rig.online()
  rig.lease.isValid = false
  await refused(t, ask(actor), {
    code: 'unavailable',
    description: 'it is not certain that this node still owns the credential',
    retryAfterSeconds: 1,
  })
})

every('an operation whose account is lost in the middle of it is not sent', async (t, ask) => {
  const rig = new CredentialRig(t, { identities })
  const actor = await rig.online()
  const resolved = Promise.withResolvers<OperationResult>()
  const performed: string[] = []
  rig.platform.session.onPerform = ({ kind }) => {
    performed.push(kind)
    return resolved.promise
  }
  const asked = refused(t, ask(actor), { code: 'timeout', certain: false })
  await settled()
  rig.world.lost({ credentialId: 1, epoch: 3 })
  resolved.resolve({ kind: 'done' } as OperationResult)
  await asked
  await settled()
  t.same(performed, ['resolve'])
})

every('a result that may not be stored any more ends the owner', async (t, ask) => {
  const fenced = {
    toNative: async (_: number, operation: Operation) => operation,
    present: async () => {
      throw new OwnershipLost()
    },
    identified: () => undefined,
  } as unknown as Identities
  const rig = new CredentialRig(t, { identities: fenced })
  const actor = await rig.online()
  rig.platform.session.onPerform = async () => ({ kind: 'done' }) as OperationResult
  await refused(t, ask(actor), { code: 'timeout', certain: false })
  await settled()
  t.match(rig.lost, [{ credentialId: 1 }])
})

const failureFrom = (asked: Promise<unknown>) => asked.then(undefined, (cause: unknown) => cause)

every('what another node may do instead is told apart from what it may not', async (t, ask) => {
  const lost = { ...identities, toNative: () => Promise.reject(new OwnershipLost()) }
  const unsent = await new CredentialRig(t, { identities: lost }).online()
  t.ok((await failureFrom(ask(unsent))) instanceof OwnershipLost)
  const rig = new CredentialRig(t, { identities })
  const actor = await rig.online()
  rig.platform.session.onPerform = ({ kind }) =>
    kind === 'resolve'
      ? Promise.resolve({ kind: 'done' } as OperationResult)
      : Promise.reject(new OwnershipLost())
  const cause = await failureFrom(ask(actor))
  t.match(cause, { failure: { code: 'timeout', certain: false } }, 'the network was asked')
  rig.platform.session.onPerform = () => Promise.reject(new OwnershipLost())
  const read = await failureFrom(ask(actor))
  t.ok(read instanceof OwnershipLost, 'it was only asked who is meant')
})

t.test(
  'an account that is online is asked without a transition, any other one refuses',
  async (t) => {
    const rig = new CredentialRig(t, { identities })
    const actor = await rig.online()
    const answer = Promise.withResolvers<OperationResult>()
    rig.platform.session.onPerform = ({ kind }) =>
      kind === 'resolve' ? Promise.resolve({ kind: 'done' } as OperationResult) : answer.promise
    const { snapshot } = actor
    const asked = perform(actor, send)
    await settled()
    t.notOk(actor.isIdle(0), 'somebody waits for the answer')
    answer.reject(failed('forbidden', 'no'))
    await refused(t, asked, { code: 'forbidden', description: 'no' })
    t.equal(actor.snapshot, snapshot)
    rig.platform.session.report.limited('flood_wait', 60)
    await settled()
    await refused(t, perform(actor, { ...send, now: rig.clock.now() }), {
      code: 'rate_limited',
      retryAfterSeconds: 60,
    })
  },
)

const deletes = {
  ...send,
  operation: { kind: 'delete', chat: 'c', message: 'm' },
} as unknown as typeof send

const away = () => failed('unavailable', 'away', { certain: false, reason: 'database_away' })

const plain = {
  toNative: async (_: number, operation: Operation) => operation,
  present: async () => true,
  identified: () => undefined,
} as unknown as Identities

t.test('other keys learn what was done, though the database was away just then', async (t) => {
  const rig = new CredentialRig(t, { identities: plain })
  const actor = await rig.online()
  rig.platform.session.onPerform = async () => ({ kind: 'done' }) as OperationResult
  rig.updates.onAppend = () => Promise.reject(away())
  t.equal(await perform(actor, deletes), true, 'the caller does not wait for it')
  t.equal(rig.updates.appended.length, 1)
  await rig.clock.advance(1_000)
  t.equal(rig.updates.appended.length, 2)
  rig.updates.onAppend = async () => ({ stored: true, count: 1 })
  await rig.clock.advance(1_000)
  await rig.clock.advance(60_000)
  t.equal(rig.updates.appended.length, 3, 'and no more once it is stored')
  t.equal(new Set(rig.updates.appended.map(({ happenings }) => happenings[0]?.sourceKey)).size, 1)
})

t.test('a failing disk is complained of when the last try has failed too', async (t) => {
  const rig = new CredentialRig(t, { identities: plain })
  const actor = await rig.online()
  rig.platform.session.onPerform = async () => ({ kind: 'done' }) as OperationResult
  rig.updates.onAppend = () => Promise.reject(away())
  await perform(actor, deletes)
  t.equal(rig.logger.errors.length, 1)
  await rig.clock.advance(60_000)
  t.equal(rig.updates.appended.length, 30)
  t.equal(rig.logger.errors.length, 2)
  const stored = Promise.withResolvers<Appended>()
  rig.updates.onAppend = () => stored.promise
  let isAnswered = false
  const next = perform(actor, deletes).then(() => (isAnswered = true))
  await settled()
  t.notOk(isAnswered, 'the next one is stored before its answer again')
  stored.resolve({ stored: true, count: 1 })
  t.ok(await next)
})

t.test('what was deleted in a channel is an update of a channel', async (t) => {
  const rig = new CredentialRig(t, { identities: plain })
  const actor = await rig.online({ settings: { ...everything, includeChannelUpdates: false } })
  for (const surface of ['channel', 'private'] as const) {
    rig.platform.session.onPerform = async () => ({ kind: 'done', surface })
    await perform(actor, deletes)
  }
  t.match(rig.updates.appended, [{ happenings: [{ kind: 'deleted', surface: 'private' }] }])
  t.equal(rig.updates.appended.length, 1)
})

t.test('each message of an album is an update of its own, of the key and the call', async (t) => {
  const rig = new CredentialRig(t, { identities: plain })
  const actor = await rig.online()
  const message = { at: 7, chat: { surface: 'private' }, content: { kind: 'text' } }
  rig.platform.session.onPerform = async () =>
    ({ kind: 'messages', messages: [message, message, message] }) as unknown as OperationResult
  await perform(actor, { ...send, callId: 'call', apiKeyId: 5, traceId: 'trace' })
  const [batch] = rig.updates.appended
  t.match(batch, { credentialId: 1, epoch: 3, apiKeyId: 5, traceId: 'trace' })
  t.same(
    batch?.happenings.map(({ sourceKey }) => sourceKey),
    ['own:call', 'own:call:1', 'own:call:2'],
  )
})

t.test('a new name is stored with the rest of the identity, and by nothing else', async (t) => {
  const saved: unknown[] = []
  const { port } = new FakeCredentialStore(t, {
    saveIdentity: async (_, identity) => void saved.push(identity),
  })
  const rig = new CredentialRig(t, { identities: plain, store: port })
  const actor = await rig.online()
  rig.platform.session.onPerform = async () => ({ kind: 'done' }) as OperationResult
  saved.length = 0
  await perform(actor, deletes)
  t.same(saved, [])
  const operation = { kind: 'set_name', firstName: 'Grace' } as const
  await perform(actor, { ...send, operation })
  t.same(saved, [{ ...somebody, firstName: 'Grace' }])
})

t.test('what was done later is told later, also where the database is back by then', async (t) => {
  const rig = new CredentialRig(t, { identities: plain })
  const actor = await rig.online()
  rig.platform.session.onPerform = async () => ({ kind: 'done' }) as OperationResult
  rig.updates.onAppend = () => Promise.reject(away())
  await perform(actor, { ...deletes, callId: 'first' })
  rig.updates.onAppend = async () => ({ stored: true, count: 1 })
  await perform(actor, { ...deletes, callId: 'second' })
  t.equal(rig.updates.appended.length, 1, 'it waits for the first one')
  await rig.clock.advance(1_000)
  const told = rig.updates.appended.map(({ happenings }) => happenings[0]?.sourceKey)
  t.match(told, [/first/, /first/, /second/])
})

t.test('other keys learn what was done, though its numbers could not be stored', async (t) => {
  const present = () => Promise.reject(away())
  const identities = { ...plain, present } as unknown as Identities
  const rig = new CredentialRig(t, { identities })
  const actor = await rig.online()
  rig.platform.session.onPerform = async () => ({ kind: 'done' }) as OperationResult
  rig.updates.onAppend = () => Promise.reject(away())
  await refused(t, perform(actor, deletes), { code: 'timeout', certain: false })
  rig.updates.onAppend = async () => ({ stored: true, count: 1 })
  await rig.clock.advance(1_000)
  t.equal(rig.updates.appended.length, 2)
  t.same(rig.lost, [], 'the account stays here')
})

t.test('what another try cannot store is not handed in again', async (t) => {
  for (const cause of [new OwnershipLost(), new Error('boom')]) {
    const rig = new CredentialRig(t, { identities: plain })
    const actor = await rig.online()
    rig.platform.session.onPerform = async () => ({ kind: 'done' }) as OperationResult
    rig.updates.onAppend = () => Promise.reject(cause)
    t.equal(await perform(actor, deletes).catch((cause) => cause.failure.code), true)
    await rig.clock.advance(60_000)
    await new Promise(setImmediate)
    t.equal(rig.updates.appended.length, 1)
    t.equal(rig.lost.length, cause instanceof OwnershipLost ? 1 : 0)
  }
})
