/** Keyboards in the place of the ordinary one, as people bring and see them over HTTP. */
import t from 'tap'
import { sandboxServer } from './sandbox-rig.ts'

const { ask, result, person } = await sandboxServer(t)
const ada = await person('Ada')
const bob = await person('Bob')
const writing = `POST /sandbox/people/${bob.id}/messages`
const inbox = `GET /sandbox/people/${ada.id}/inbox`
const bring = (keyboard: unknown) => ask(writing, { to: ada.id, text: 'pick', keyboard })

t.test('whoever waits for a change is told of one', async (t) => {
  const { tag, keyboards } = await result(inbox)
  t.strictSame(keyboards, [])
  const waiting = result(`${inbox}?known=${tag}&wait_seconds=20`)
  const keyboard = {
    keyboard: [[{ text: 'Yes' }, { text: 'Quiz', request_poll: { type: 'quiz' } }]],
    is_persistent: true,
    resize_keyboard: true,
    one_time_keyboard: true,
    input_field_placeholder: 'Well?',
  }
  const { status, body } = await bring({ ...keyboard, selective: true })
  t.equal(status, 200)
  t.notOk(body.result.keyboard, 'it is for the others')
  let seen = await waiting
  // It may have been sent between a look at the messages and one at the keyboards: then the next change shows both.
  while (seen.messages.length === 0 || seen.keyboards.length === 0) {
    seen = await result(`${inbox}?known=${seen.tag}&wait_seconds=20`)
  }
  t.strictSame(seen.messages[0].keyboard, keyboard, 'with two people it is for the other one')
  t.match(seen.keyboards, [{ ...keyboard, chat: { id: bob.id }, message_id: 1, used: false }])
  await bring({ remove_keyboard: true })
  t.match(await result(inbox), {
    messages: [{ keyboard: { remove_keyboard: true } }],
    keyboards: { length: 0 },
  })
})

t.test('a wait may be any part of a second', async (t) => {
  const { tag } = await result(inbox)
  for (const seconds of [0, 0.0005, 0.0123456]) {
    const { status } = await ask(`${inbox}?known=${tag}&wait_seconds=${seconds}`)
    t.equal(status, 200, `${seconds} s`)
  }
})

t.test('no more keys are kept than the reference keeps', async (t) => {
  const row = (length: number) => Array.from({ length }, (_, place) => ({ text: `${place}` }))
  const rows = Array.from({ length: 30 }, () => row(20))
  await bring({ keyboard: [[{ text: '' }], ...rows] })
  const [{ keyboard }] = (await result(inbox)).keyboards
  t.equal(keyboard.length, 25)
  t.ok(keyboard.every(({ length }: unknown[]) => length === 12))
})

t.test('texts that cannot be stored are stored without what hinders', async (t) => {
  t.equal((await bring({ keyboard: [[{ text: 'A\0B\ud800' }]] })).status, 200)
  t.match((await result(inbox)).keyboards, [{ keyboard: [[{ text: 'A B\ufffd' }]] }])
})

t.test('what is no keyboard is refused', async (t) => {
  const wrong = [
    7,
    [],
    { keyboard: 'A' },
    { keyboard: [{ text: 'A' }] },
    { keyboard: [['A']] },
    { keyboard: [[{ request_contact: true }]] },
    { keyboard: [[{ text: 'A' }]], selective: 'ja' },
    { force_reply: 7 },
    { force_reply: true, input_field_placeholder: {} },
    { inline_keyboard: [] },
  ]
  for (const keyboard of wrong) {
    t.match(await bring(keyboard), { status: 400, body: { ok: false } }, JSON.stringify(keyboard))
  }
  t.match(await ask(writing, { to: ada.id, text: 'x', keyboard: {} }, '2'), { status: 401 })
})
