/** Calls with an Idempotency-Key: one key is carried out once, and its first answer is given again. */
import t from 'tap'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import { forgetAnswers, IdempotentCalls, replyKey } from '../../src/bot-api/idempotency.ts'
import type { Queryable } from '../../src/database/database.ts'
import { quietLogger } from '../support/logger.ts'
import { stage } from '../updates/stage.ts'

const { db, credential, key: newKey } = await stage(t)
const account = await credential()
const [key, otherKey] = [await newKey(account), await newKey(account)]
const calls = new IdempotentCalls(db, quietLogger)

/** Sends something; each time it answers with another number. */
function sender(
  answer: (times: number) => Promise<{ json: string }> = async (n) => ({ json: `${n}` }),
) {
  const sent = { times: 0, send: () => answer(++sent.times) }
  return sent
}

async function failureOf(promise: Promise<unknown>) {
  const cause: unknown = await promise.catch((cause) => cause)
  if (cause instanceof RequestFailed) return cause.failure
  throw new Error('it was not refused')
}

t.test('the first answer is given again, and nothing is sent', async (t) => {
  const one = sender()
  t.same(await calls.once(key, 'a', one.send), { json: '1' })
  t.same(await calls.once(key, 'a', one.send), { json: '1' })
  t.same(await new IdempotentCalls(db, quietLogger).once(key, 'a', one.send), { json: '1' })
  t.equal(one.times, 1)
  t.same(await calls.once(key, 'b', one.send), { json: '2' }, 'another key is another call')
  t.same(await calls.once(otherKey, 'a', one.send), { json: '3' }, 'as is that of another API key')
})

t.test('a refusal is an answer, unless it asks to come back', async (t) => {
  const refusals = [
    failed('bad_request', 'chat not found'),
    failed('timeout', 'the message may have been sent', { certain: false }),
    failed('unavailable', 'cut off', { certain: false }),
    new Error('boom'),
  ]
  for (const [place, refusal] of refusals.entries()) {
    const one = sender(() => Promise.reject(refusal))
    await t.rejects(calls.once(key, `refused ${place}`, one.send), refusal)
    const again = await failureOf(calls.once(key, `refused ${place}`, one.send))
    const known = refusal instanceof RequestFailed ? refusal.failure : { code: 'internal' }
    t.match(again, known)
    t.equal(one.times, 1)
  }
  for (const code of ['rate_limited', 'unavailable'] as const) {
    const one = sender(async (times) => {
      if (times === 1) throw failed(code, '', { retryAfterSeconds: 1 })
      return { json: 'true' }
    })
    t.equal((await failureOf(calls.once(key, code, one.send))).code, code)
    t.same(await calls.once(key, code, one.send), { json: 'true' }, code)
  }
})

t.test('while the first is under way, the second is refused', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ json: string }>()
  const one = sender(() => promise)
  const first = calls.once(key, 'slow', one.send)
  // Either of two that begin at once may be the first for the database.
  while (one.times === 0) await new Promise(setImmediate)
  const second = await failureOf(calls.once(key, 'slow', one.send))
  t.match(second, {
    code: 'conflict',
    description: /^a call with this Idempotency-Key is under way$/,
  })
  resolve({ json: '"there"' })
  t.same(await first, { json: '"there"' })
  const [again, andAgain] = await Promise.all([1, 2].map(() => calls.once(key, 'slow', one.send)))
  t.same([again, andAgain], [{ json: '"there"' }, { json: '"there"' }])
  t.equal(one.times, 1)
})

t.test('after a crash nobody knows whether it was sent, and nothing is sent', async (t) => {
  const crashed = new IdempotentCalls(db, quietLogger)
  const one = sender(() => new Promise(() => undefined))
  void crashed.once(key, 'crash', one.send)
  while (one.times === 0) await new Promise(setImmediate)
  const failure = await failureOf(calls.once(key, 'crash', one.send))
  t.match(failure, { code: 'timeout', certain: false, reason: 'sent_unconfirmed' })
  t.match(
    failure.description,
    /^the first call .+ ended without an answer; the message may have been sent$/,
  )
  t.equal(one.times, 1)
})

t.test(
  'after a crash the call is resolved where the network can tell what became of it',
  async (t) => {
    const ids: unknown[] = []
    const crash = async (name: string) => {
      const crashed = new IdempotentCalls(db, quietLogger)
      const begun = Promise.withResolvers<void>()
      void crashed.once(key, name, (call) => {
        ids.push(call)
        begun.resolve()
        return new Promise(() => undefined)
      })
      await begun.promise
      const [first] = ids.splice(0) as { readonly id: string }[]
      t.match(first, { id: /^[\da-f-]{36}$/, isRepeated: false })
      return first?.id
    }
    const answer = (work: () => Promise<{ json: string }>) => (call: unknown) => {
      ids.push(call)
      return work()
    }
    const sent = answer(async () => ({ json: '"sent"' }))

    const id = await crash('told')
    const unknown = failed('timeout', 'the node has ended', { certain: false })
    const failure = await failureOf(
      calls.once(
        key,
        'told',
        answer(() => Promise.reject(unknown)),
        true,
      ),
    )
    t.match(
      failure.description,
      /^the first call .+ ended without an answer; the message may have been sent$/,
    )
    const later = failed('unavailable', 'reconnecting', { retryAfterSeconds: 5 })
    await t.rejects(
      calls.once(
        key,
        'told',
        answer(() => Promise.reject(later)),
        true,
      ),
      later,
    )
    t.same(await calls.once(key, 'told', sent, true), { json: '"sent"' })
    t.same(
      await calls.once(key, 'told', sent, true),
      { json: '"sent"' },
      'which is its answer from now on',
    )
    t.same(
      ids.splice(0),
      [1, 2, 3].map(() => ({ id, isRepeated: true })),
    )

    await crash('refused')
    const refuse = answer(() => Promise.reject(failed('bad_request', 'chat not found')))
    const open = { code: 'timeout', certain: false }
    t.match(
      await failureOf(calls.once(key, 'refused', refuse, true)),
      open,
      'the first may be sent',
    )
    t.same(
      await calls.once(key, 'refused', sent, true),
      { json: '"sent"' },
      'and is looked for again',
    )
    ids.splice(0)

    await crash('late')
    await db.query(
      `update idempotent_call set begun_at = now() - interval '61 minutes' where key = 'late'`,
    )
    t.match(await failureOf(calls.once(key, 'late', sent, true)), {
      code: 'timeout',
      certain: false,
    })
    await crash('blind')
    t.match(await failureOf(calls.once(key, 'blind', sent)), { code: 'timeout', certain: false })
    t.same(ids, [], 'neither was tried')
  },
)

t.test('a call that may have been carried out is resolved likewise', async (t) => {
  const unknown = failed('timeout', 'the message may have been sent', { certain: false })
  const one = sender(async (times) => {
    if (times === 1) throw unknown
    return { json: '"there"' }
  })
  await t.rejects(calls.once(key, 'open', one.send, true), unknown)
  t.match(await failureOf(calls.once(key, 'open', one.send)), unknown.failure)
  t.same(await calls.once(key, 'open', one.send, true), { json: '"there"' })
})

t.test('one that is under way is resolved by nobody, though the network could tell', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ json: string }>()
  const one = sender(() => promise)
  const first = calls.once(key, 'told and slow', one.send, true)
  while (one.times === 0) await new Promise(setImmediate)
  const second = await Promise.race([
    failureOf(calls.once(key, 'told and slow', one.send, true)),
    promise,
  ])
  t.match(second, { code: 'conflict' })
  t.equal(one.times, 1)
  resolve({ json: '"there"' })
  t.same(await first, { json: '"there"' })
})

t.test('a key that begins anew after a day is resolved by the id of its newest call', async (t) => {
  const ids: unknown[] = []
  const crash = async () => {
    const begun = Promise.withResolvers<void>()
    void new IdempotentCalls(db, quietLogger).once(key, 'anew', ({ id }) => {
      ids.push(id)
      begun.resolve()
      return new Promise(() => undefined)
    })
    await begun.promise
  }
  await crash()
  await db.query(
    `update idempotent_call set begun_at = now() - interval '25 hours' where key = 'anew'`,
  )
  await crash()
  const resolved = async ({ id }: { readonly id: string }) => ({ json: JSON.stringify(id) })
  t.notSame(ids[0], ids[1])
  t.same(await calls.once(key, 'anew', resolved, true), { json: JSON.stringify(ids[1]) })
})

t.test('an answer is forgotten after a day, also where no chore came by', async (t) => {
  const age = (name: string, hours: number) =>
    db.query(
      `update idempotent_call set begun_at = now() - make_interval(hours => $2) where key = $1`,
      [name, hours],
    )
  const one = sender()
  for (const name of ['old', 'young', 'stale']) await calls.once(key, name, one.send)
  await age('old', 25)
  await age('stale', 25)
  await age('young', 23)
  t.same(await calls.once(key, 'stale', one.send), { json: '4' })
  await forgetAnswers(db)
  const kept = await db.query<{ key: string }>(
    `select key from idempotent_call where key in ('old', 'young', 'stale') order by key`,
  )
  t.same(
    kept.map(({ key }) => key),
    ['stale', 'young'],
  )
})

t.test(
  'answers to calls of webhooks are found among many others without a look at them',
  async (t) => {
    const busy = await newKey(account)
    await db.query(
      `insert into idempotent_call (api_key_id, key, begun_at)
     select $1, case when n % 1000 = 0 then ' ' else '' end || n, now() - interval '2 hours'
       from generate_series(1, 20000) n`,
      [busy],
    )
    await db.query('analyze idempotent_call')
    const plans: string[] = []
    const explaining: Queryable = {
      async query(text, values) {
        const plan = await db.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
        plans.push(plan.map((row) => row['QUERY PLAN']).join('\n'))
        return []
      },
    }
    await forgetAnswers(explaining)
    t.match(plans[0], /using idempotent_call_replies on/)
    t.notMatch(plans.join(), /Seq Scan on idempotent_call/)
    await forgetAnswers(db)
    const [kept] = await db.query<{ count: number }>(
      'select count(*)::int from idempotent_call where api_key_id = $1',
      [busy],
    )
    t.equal(kept?.count, 19_980)
  },
)

t.test('a key has 1 to 128 characters', async (t) => {
  const one = sender()
  for (const name of ['', 'x'.repeat(129)]) {
    t.match(await failureOf(calls.once(key, name, one.send)), {
      code: 'bad_request',
      description: /^the Idempotency-Key must have 1 to 128 characters$/,
    })
  }
  t.same(await calls.once(key, 'x'.repeat(128), one.send), { json: '1' })
})

/** As many as a key may have, by statements that are short on a busy machine, too. */
async function fill(apiKeyId: number, prefix = '', minutesAgo = 0) {
  for (let from = 0; from < 100_000; from += 10_000) {
    await db.query(
      `insert into idempotent_call (api_key_id, key, begun_at)
       select $1, $2::text || n, now() - make_interval(mins => $4)
         from generate_series($3::int + 1, $3::int + 10000) n`,
      [apiKeyId, prefix, from, minutesAgo],
    )
  }
}

t.test('an API key with very many answers is asked to wait', async (t) => {
  const busy = await newKey(account)
  await fill(busy)
  const failure = await failureOf(calls.once(busy, 'one more', sender().send))
  t.match(failure, { code: 'rate_limited', retryAfterSeconds: 3600 })
  const reply = sender()
  for (const _ of '12') t.same(await calls.once(busy, replyKey('1'), reply.send), { json: '1' })
  t.same(await calls.once(key, 'another', sender().send), { json: '1' })
})

/** The database, whose answer to the next statement like this gets lost after it was carried out, or before. */
function losing(lost: RegExp, isDone: boolean): Queryable {
  let left = 1
  return {
    async query(statement, values) {
      const text = typeof statement === 'string' ? statement : statement.text
      const isLost = lost.test(text) && left-- > 0
      const rows = isLost && !isDone ? [] : await db.query(statement, values)
      if (isLost) throw failed('unavailable', 'the database does not answer', { certain: false })
      return rows as never
    },
  }
}

t.test('a call whose beginning got lost is carried out when it is repeated', async (t) => {
  for (const isDone of [true, false]) {
    const cut = new IdempotentCalls(losing(/^insert/, isDone), quietLogger)
    const one = sender()
    const name = `cut ${isDone}`
    const failure = await failureOf(cut.once(key, name, one.send))
    t.same(failure, { code: 'unavailable', description: 'the database does not answer' })
    t.equal(one.times, 0)
    const both = await Promise.allSettled([1, 2].map(() => cut.once(key, name, one.send)))
    t.ok(both.some(({ status }) => status === 'fulfilled'))
    t.equal(one.times, 1, 'by one of two')
    t.same(await cut.once(key, name, one.send), { json: '1' })
    t.equal(one.times, 1)
  }
})

t.test('a call that did nothing is carried out when its key could not be given up', async (t) => {
  const cut = new IdempotentCalls(losing(/^delete/, false), quietLogger)
  const one = sender(async (times) => {
    if (times === 1) throw failed('rate_limited', '', { retryAfterSeconds: 1 })
    return { json: 'true' }
  })
  t.match(await failureOf(cut.once(key, 'not given up', one.send)), { code: 'rate_limited' })
  t.same(await cut.once(key, 'not given up', one.send), { json: 'true' })
})

t.test('calls in answers to webhooks take no room, and are forgotten after an hour', async (t) => {
  const bot = await newKey(account)
  await fill(bot, replyKey(''), 61)
  t.same(await calls.once(bot, 'of a caller', sender().send), { json: '1' })
  await db.query(
    `update idempotent_call set begun_at = now() - interval '61 minutes' where key = 'of a caller'`,
  )
  await forgetAnswers(db)
  const kept = await db.query('select key from idempotent_call where api_key_id = $1', [bot])
  t.same(kept, [{ key: 'of a caller' }])
})

t.test('a key that was given up too late is not taken from the call after', async (t) => {
  let late: (() => Promise<unknown>) | undefined
  const cut: Queryable = {
    async query(statement, values) {
      const text = typeof statement === 'string' ? statement : statement.text
      if (!/^delete/.test(text) || late) return (await db.query(statement, values)) as never
      late = () => db.query(statement, values)
      throw failed('unavailable', 'the database does not answer', { certain: false })
    },
  }
  const calls = new IdempotentCalls(cut, quietLogger)
  const one = sender(async (times) => {
    if (times === 1) throw failed('rate_limited', '', { retryAfterSeconds: 1 })
    await late?.()
    return { json: 'true' }
  })
  t.match(await failureOf(calls.once(key, 'given up late', one.send)), { code: 'rate_limited' })
  t.same(await calls.once(key, 'given up late', one.send), { json: 'true' })
  t.same(await calls.once(key, 'given up late', one.send), { json: 'true' })
  t.equal(one.times, 2, 'it was carried out once')
})
