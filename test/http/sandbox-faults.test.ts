/** Faults and pressed buttons over HTTP, with a session to feel them. */
import t from 'tap'
import { run, Store } from '../platforms/contract/recorder.ts'
import { linked, perform, refusalOf, sending, sent } from '../platforms/contract/scene.ts'
import { sandboxServer } from './sandbox-rig.ts'

async function linkedServer(t: Parameters<typeof sandboxServer>[0]) {
  const rig = await sandboxServer(t)
  const [ada, bob] = [await rig.person('Ada'), await rig.person('Bob')]
  const inbox = `GET /sandbox/people/${ada.id}/inbox`
  const account = {
    native: String(ada.id),
    method: 'phone',
    fields: { phone: ada.phone },
    code: async () => (await rig.result(inbox)).codes[0].code,
  }
  const store = new Store(await linked(rig.sandbox.platform, account))
  const opened = run(rig.sandbox.platform, store)
  t.teardown(() => opened.stop())
  await opened.reported('opened')
  return { ...rig, ada, bob, store, opened, faults: `/sandbox/people/${ada.id}/faults` }
}

t.test('the code of a link is a message in the inbox', async (t) => {
  const { ada, result } = await linkedServer(t)
  const { messages, codes } = await result(`GET /sandbox/people/${ada.id}/inbox?chat=777000`)
  t.match(messages[0], { from: { id: 777_000 }, text: /sign-in code is \d{5}\./ })
  t.same(codes, [], 'a used code is gone')
  t.match(await result(`GET /sandbox/people/${ada.id}`), { linked_sessions: 1 })
})

t.test('every fault is shown while it lasts, and taken off', async (t) => {
  const { result, faults } = await linkedServer(t)
  const lasting: [fault: string, details: object | undefined, shown: object][] = [
    ['silence', undefined, {}],
    ['flood_wait', { seconds: 60 }, { until: /Z$/ }],
    ['delay', { milliseconds: 5 }, { milliseconds: 5 }],
    ['duplicate', undefined, {}],
    ['reorder', undefined, {}],
    ['lose_answers', { times: 3 }, { times: 3 }],
    ['ban', undefined, {}],
    ['drop', { seconds: 60 }, { until: /Z$/ }],
  ]
  for (const [fault, details, shown] of lasting) {
    t.match(await result(`PUT ${faults}/${fault}`, details), { [fault]: shown }, fault)
    t.notOk((await result(`DELETE ${faults}/${fault}`))[fault], fault)
  }
  await result(`PUT ${faults}/reorder`)
  await result(`PUT ${faults}/ban`)
  t.same(await result(`DELETE ${faults}`), {})
  t.same(await result(`GET ${faults}`), {})
})

t.test('a fault is felt by the session', async (t) => {
  const { result, faults, opened, bob } = await linkedServer(t)
  await result(`PUT ${faults}/flood_wait`, { seconds: 30 })
  t.same(await opened.reported('limited'), ['flood_wait', 30])
  const failure = await refusalOf(perform(opened, sending(String(bob.id), 'x')))
  t.match(failure, { code: 'rate_limited', retryAfterSeconds: Number })
  await result(`DELETE ${faults}/flood_wait`)
  await sent(opened, String(bob.id), 'x')
  await result(`PUT ${faults}/revoke`)
  t.same(await opened.reported('revoked'), ['session_revoked'])
})

t.test('faults that do not exist or lack their details are refused', async (t) => {
  const { ask, faults } = await linkedServer(t)
  t.match(await ask(`PUT ${faults}/flood_wait`), {
    status: 400,
    body: { description: 'Bad Request: field "seconds" is required' },
  })
  t.equal((await ask(`PUT ${faults}/delay`)).status, 400)
  t.equal((await ask(`PUT ${faults}/meteor`)).status, 400)
  t.equal((await ask(`PUT ${faults}/silence`, { volume: 1 })).status, 400)
  t.equal((await ask('PUT /sandbox/people/5/faults/silence')).status, 404)
})

t.test('a pressed button waits for its answer', async (t) => {
  const { ask, ada, bob, result, opened, store } = await linkedServer(t)
  const buttons = [[{ text: 'Yes', data: 'yes' }]]
  const message = await sent(opened, String(bob.id), 'Tea?', { buttons })
  const presses = `POST /sandbox/people/${bob.id}/presses`
  const press = { chat: ada.id, message_id: Number(message.native), callback_data: 'yes' }
  const pressed = result(presses, press)
  const found = await store.until(() => store.happenings.find(({ kind }) => kind === 'callback'))
  const callback = found.kind === 'callback' ? found.callback : ''
  await perform(opened, { kind: 'answer', callback, text: 'brewing', alert: true })
  t.match(await pressed, {
    callback_query_id: callback,
    answered: true,
    text: 'brewing',
    show_alert: true,
  })
  const again = await refusalOf(perform(opened, { kind: 'answer', callback }))
  t.equal(again.description, 'query is too old and response timeout expired or query ID is invalid')
  t.match(await result(presses, { ...press, wait_seconds: 0.05 }), { answered: false })
  t.match((await ask(presses, { ...press, callback_data: 'no' })).body, {
    description: 'Bad Request: there is no such button',
  })
})
