/** Calls on one API key while nodes and the database fail are judged by Porcupine; and that this judge tells wrong from right. */
import t from 'tap'
import { builtPorcupine, judged, type Outcome, type RecordedCall } from '../support/porcupine.ts'
import { linearizable } from './linearizable.ts'
import { randomOf } from './random.ts'
import { setStage } from './stage.ts'

// Each round of a busy machine takes a minute.
t.setTimeout(900_000)
const built = await builtPorcupine()
const skip = typeof built === 'string' ? built : false
const verdictsOn = (history: readonly RecordedCall[]) => {
  if (typeof built === 'string') throw new Error(built)
  return judged(built.program, history)
}

const FIRST = 10
const textOf = (id: number) => `writer ${id - FIRST + 1}`
const updates = (...ids: number[]) => ids.map((id) => ({ id, text: textOf(id) }))
/** Apart by more than what a poll that asks the same again is held back for. */
const APART = 5_000_000

type Written = Omit<RecordedCall, 'began' | 'ended'>

const did = (client: string, call: string, args: RecordedCall['args'], outcome: Outcome) =>
  ({ client, call, args, outcome }) satisfies Written
const begins = did('tables', 'start', { next: FIRST, cursor: FIRST - 1 }, {})
const writes = (id: number) =>
  did('writer', 'write', { text: textOf(id), number: id - FIRST + 1 }, { status: 200 })
const polls = (offset: number, ...ids: number[]) =>
  did('reader', 'getUpdates', { offset, limit: 100 }, { status: 200, updates: updates(...ids) })
const changes = (call: 'setWebhook' | 'deleteWebhook', description = '') =>
  did('owner', call, {}, { status: 200, description })
const refusedChange = did('owner', 'setWebhook', {}, { status: 503 })
const delivers = (id: number, taken = true) =>
  did('webhook', 'deliver', {}, { updates: updates(id), taken })
const conflicts = (description: string) =>
  did('reader', 'getUpdates', { offset: 0, limit: 100 }, { status: 409, description })
const crashes = did('SIGKILL', 'fault', { loses: true }, {})
const drains = did('drain', 'fault', { loses: false }, {})
const sends = (outcome: Outcome) => did('sender', 'sendMessage', { key: 'k', text: 'hi' }, outcome)
const sent = (message: number) => sends({ status: 200, message })
const refused = sends({ status: 503 })
const logged = (...ids: number[]) => did('tables', 'log', {}, { updates: updates(...ids) })
const stored = (...texts: string[]) => did('tables', 'stored', {}, { texts })

/** One after the other, of one second each. */
const inTurn = (...calls: Written[]): RecordedCall[] =>
  [begins, ...calls].map((call, at) => {
    const began = at * APART
    return { ...call, began, ended: began + 1_000_000 }
  })
/** Nobody knows what became of the call at this place. */
const openAt = (place: number, calls: RecordedCall[]): RecordedCall[] =>
  calls.map((call, at) => {
    if (at !== place) return call
    const { ended: _, outcome: __, ...open } = call
    return open
  })
/** The call at this place lasts until the next one is over. */
const longAt = (place: number, calls: RecordedCall[]): RecordedCall[] =>
  calls.map((call, at) => (at === place ? { ...call, ended: call.began + 2 * APART } : call))

const ADDRESS_SET = 'Conflict: terminated by setWebhook request'
const OTHER_POLL = 'Conflict: terminated by other getUpdates request; make sure …'
const HAS_WEBHOOK = "Conflict: can't use getUpdates method while webhook is active; use …"

const right: Readonly<Record<string, RecordedCall[]>> = {
  'what is not confirmed comes again': inTurn(
    writes(10),
    polls(0, 10),
    writes(11),
    polls(0, 10, 11),
    polls(11, 11),
    polls(0, 11),
    polls(12),
    logged(10, 11),
  ),
  'an update is read before its writer is told': longAt(
    1,
    inTurn(writes(10), polls(0, 10), logged(10)),
  ),
  'a poll waits for an update': longAt(1, inTurn(polls(0, 10), writes(10), logged(10))),
  'a held poll has confirmed when it came': longAt(
    3,
    inTurn(writes(10), polls(0, 10), polls(11, 11), polls(0), writes(11), logged(10, 11)),
  ),
  'the newest only, and more than there is': inTurn(
    ...[writes(10), writes(11), writes(12)],
    polls(1_000, 10, 11, 12),
    polls(-1, 12),
    polls(0, 12),
    polls(20),
    logged(10, 11, 12),
  ),
  'an update comes to a poll that was ahead of it': longAt(
    2,
    inTurn(writes(10), { ...polls(13, 11), client: 'ahead' }, writes(11), logged(10, 11)),
  ),
  'a crash forgets what was confirmed just before': inTurn(
    writes(10),
    { ...polls(11), client: 'confirming' },
    crashes,
    polls(0),
    logged(10),
  ),
  'a poll that was lost has confirmed': openAt(
    2,
    inTurn(writes(10), polls(11), polls(0), writes(11), polls(0, 11), logged(10, 11)),
  ),
  'a write that was lost is stored': openAt(1, inTurn(writes(10), polls(0, 10), logged(10))),
  'a write that was lost is not stored': openAt(1, inTurn(writes(10), polls(0), logged())),
  'what a webhook has got is confirmed, but perhaps for the last one': inTurn(
    ...[writes(10), writes(11), changes('setWebhook'), delivers(10, false), delivers(10)],
    ...[delivers(11), conflicts(HAS_WEBHOOK), changes('deleteWebhook'), polls(0, 11)],
    logged(10, 11),
  ),
  'polls that end each other': longAt(1, inTurn(conflicts(OTHER_POLL), polls(0), logged())),
  'a webhook that ends a poll': longAt(
    1,
    inTurn(conflicts(ADDRESS_SET), changes('setWebhook'), logged()),
  ),
  'a key has one answer': inTurn(refused, sent(5), sent(5), logged(), stored('hi')),
  'a send that was lost is stored': openAt(1, inTurn(sent(5), sent(5), logged(), stored('hi'))),
  'a send that was lost is not stored': openAt(1, inTurn(sent(5), refused, logged(), stored())),
}

const wrong: Readonly<Record<string, RecordedCall[]>> = {
  'an answer came before the commit, and the commit never': inTurn(
    writes(10),
    writes(11),
    polls(0, 10, 11),
    logged(10),
  ),
  'an update that nobody wrote': inTurn(writes(10), logged(10, 11)),
  'a write that was acknowledged is lost': inTurn(writes(10), logged()),
  'an id is left out': inTurn(writes(10), writes(12), polls(0, 10, 12), logged(10, 12)),
  'the texts of one writer are stored in another order': inTurn(
    { ...writes(11), args: { text: textOf(11), number: 1 } },
    { ...writes(10), args: { text: textOf(10), number: 2 } },
    logged(10, 11),
  ),
  'what was read by one is missing for the next': inTurn(
    writes(10),
    writes(11),
    polls(0, 10, 11),
    polls(0, 10),
    logged(10, 11),
  ),
  'nothing is there after something was': inTurn(writes(10), polls(0, 10), polls(0), logged(10)),
  'a confirmed one comes again': inTurn(
    writes(10),
    polls(0, 10),
    polls(11),
    polls(0, 10),
    logged(10),
  ),
  'a confirmed one comes again after a drain': inTurn(
    ...[writes(10), polls(0, 10), polls(11), drains, polls(0, 10)],
    logged(10),
  ),
  'one that was confirmed long before a crash comes again': inTurn(
    ...[writes(10), polls(0, 10), polls(11), crashes, polls(0), polls(0, 10)],
    logged(10),
  ),
  'one is skipped': inTurn(
    ...[writes(10), writes(11), polls(0, 10, 11), polls(0, 11)],
    logged(10, 11),
  ),
  'too far an offset has confirmed': inTurn(
    ...[writes(10), polls(0, 10), polls(1_000), polls(0)],
    logged(10),
  ),
  'one that is not confirmed comes to a poll behind it': inTurn(
    ...[writes(10), writes(11), polls(0, 10, 11), polls(11, 10, 11)],
    logged(10, 11),
  ),
  'the newest only keeps more': inTurn(
    ...[writes(10), writes(11), polls(-1, 11), polls(0, 10, 11)],
    logged(10, 11),
  ),
  'a poll is answered while there is a webhook': inTurn(
    ...[writes(10), changes('setWebhook'), polls(0, 10)],
    logged(10),
  ),
  'a webhook gets something after it was deleted': inTurn(
    ...[writes(10), changes('setWebhook'), changes('deleteWebhook'), delivers(10)],
    logged(10),
  ),
  'a webhook gets the second one first': inTurn(
    ...[writes(10), writes(11), changes('setWebhook'), delivers(11)],
    logged(10, 11),
  ),
  'what a webhook has got comes again by a poll': inTurn(
    ...[writes(10), writes(11), changes('setWebhook'), delivers(10), delivers(11)],
    ...[changes('deleteWebhook'), polls(0, 10, 11)],
    logged(10, 11),
  ),
  'a webhook was refused, and is set': inTurn(refusedChange, conflicts(HAS_WEBHOOK), logged()),
  'a webhook is already set that was deleted': inTurn(
    ...[changes('setWebhook'), changes('deleteWebhook')],
    changes('setWebhook', 'Webhook is already set'),
    logged(),
  ),
  'a webhook is already deleted that was set': inTurn(
    changes('setWebhook', 'Webhook was set'),
    changes('deleteWebhook', 'Webhook is already deleted'),
    logged(),
  ),
  'a conflict without another poll': inTurn(conflicts(OTHER_POLL), polls(0), logged()),
  'a conflict with a webhook that is not set': inTurn(conflicts(HAS_WEBHOOK), logged()),
}

const wronglySent: Readonly<Record<string, RecordedCall[]>> = {
  'it was sent twice': inTurn(sent(5), sent(5), logged(), stored('hi', 'hi')),
  'two answers': inTurn(sent(5), sent(6), logged(), stored('hi')),
  'it was refused, and sent': inTurn(refused, logged(), stored('hi')),
  'it was told to be sent, and not stored': inTurn(sent(5), logged(), stored()),
  'a conflict without another call': inTurn(sends({ status: 409 }), logged(), stored()),
}

t.test('the judge', { skip }, async (t) => {
  for (const [name, history] of Object.entries(right)) {
    const { log, sends } = await verdictsOn(history)
    t.same(
      [log.result, sends.result, log.stuck, sends.stuck],
      ['Ok', 'Ok', undefined, undefined],
      name,
    )
  }
  for (const [name, history] of Object.entries(wrong)) {
    t.match(
      await verdictsOn(history),
      { log: { result: 'Illegal' }, sends: { result: 'Ok' } },
      name,
    )
  }
  for (const [name, history] of Object.entries(wronglySent)) {
    t.match(
      await verdictsOn(history),
      { log: { result: 'Ok' }, sends: { result: 'Illegal' } },
      name,
    )
  }
})

const changed = (
  history: readonly RecordedCall[],
  isMeant: (call: RecordedCall) => boolean,
  change: (outcome: Outcome) => Outcome,
): RecordedCall[] => {
  const at = history.findLastIndex(isMeant)
  return history.map((one, place) => {
    return place === at && one.outcome ? { ...one, outcome: change(one.outcome) } : one
  })
}

/** What a service would have answered that was wrong in one place. */
const spoilt: Readonly<Record<string, (history: readonly RecordedCall[]) => RecordedCall[]>> = {
  'the newest update is not stored': (history) =>
    changed(
      history,
      ({ call }) => call === 'log',
      ({ updates = [] }) => ({ updates: updates.slice(0, -1) }),
    ),
  'a page without its first update': (history) =>
    changed(
      history,
      ({ call, outcome }) => call === 'getUpdates' && (outcome?.updates?.length ?? 0) > 2,
      ({ updates = [], ...more }) => ({
        ...more,
        updates: [updates[0], ...updates.slice(2)] as typeof updates,
      }),
    ),
  'a message that was sent again': (history) =>
    changed(
      history,
      ({ call }) => call === 'stored',
      ({ texts = [] }) => ({ texts: [...texts, ...texts] }),
    ),
  'another answer to the same Idempotency-Key': (history) =>
    changed(
      history,
      ({ call, outcome }) => call === 'sendMessage' && outcome?.message !== undefined,
      ({ message = 0, ...more }) => ({ ...more, message: message + 1 }),
    ),
}

const ROUNDS = 4
/** With fewer the judge has nothing to judge. */
const FEWEST_CALLS = 100

t.test('calls while nodes and the database fail', { skip, timeout: 840_000 }, async (t) => {
  const seed = Date.now() % 2 ** 31
  t.comment(`seed ${seed}`)
  const bots = { polling: 0, webhook: 0, grammY: 0, Telegraf: 0, 'python-telegram-bot': 0 }
  const load = { accounts: 0, writesPerSecond: 0, sendsPerSecond: 0 }
  const plan = { ...load, nodes: 3, idle: 6, bots, seed }
  const stage = await setStage(t, plan, { judged: true })
  await stage.settled()
  const random = randomOf(seed)
  for (let round = 1; round <= ROUNDS; round++) await linearizable.round(stage, random)
  const { violations, histories } = stage.judged ?? { violations: [], histories: [] }
  t.same(violations, [])
  t.equal(histories.length, ROUNDS)
  for (const history of histories) t.ok(history.length > FEWEST_CALLS, `${history.length} calls`)

  for (const [name, spoil] of Object.entries(spoilt)) {
    const [history = []] = histories
    const { log, sends } = await verdictsOn(spoil(history))
    t.ok([log.result, sends.result].includes('Illegal'), `not seen: ${name}`)
  }
})
