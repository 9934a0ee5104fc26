/** The diagnosis of a bot behind the gateway names the cause and the next step for what goes wrong on its network. */
import t, { type Test } from 'tap'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { html, ok, refusal, startStub, token, update } from '../platforms/upstream-bot/stub.ts'
import { startService } from '../support/service.ts'

/** For good: nobody asks so often. */
const always = <Answer>(answer: Answer) => Array.from({ length: 1_000 }, () => answer)

async function linkedBot(t: Test) {
  const stub = await startStub(t)
  const service = await startService(t, { env: { TELEGRAM_BOT_API_URL: stub.url } })
  const client = await service.client()
  const credentialId = await linkBot(client, { token })
  const { key, api_key_id } = await client.key(credentialId)
  return {
    stub,
    client,
    key,
    state: (state: string) => client.state(credentialId, state),
    /** From the first step to the last, one by one. */
    async diagnose(send_to?: string) {
      const path = `/api_keys/${api_key_id}/diagnosis`
      let found = await client.result('POST', path, {})
      for (let steps = 0; found.step !== null && steps < 5; steps++) {
        const body = found.step === 'send' && send_to ? { send_to } : {}
        found = await client.result('POST', `${path}/${found.diagnosis_id}/next`, body)
      }
      return found
    },
    /** The poll that is held ends, and the next one is answered so. */
    pollsGet(...answers: ReturnType<typeof refusal>[]) {
      stub.next('getUpdates', ...answers)
      stub.push(update('the last one'))
    },
  }
}

const verdicts = ({ steps }: { steps: { verdict: string }[] }) =>
  steps.map(({ verdict }) => verdict)

t.test('a bot in good order passes every step, and its message goes out', async (t) => {
  const { stub, diagnose } = await linkedBot(t)
  stub.next('sendMessage', ok({ message_id: 5 }))
  const found = await diagnose('42')
  t.match(found, { step: null, cause: null, next_action: /Nothing is wrong/ })
  t.same(verdicts(found), ['passed', 'passed', 'passed', 'passed', 'passed'])
  t.match(stub.last('sendMessage')?.body, { chat_id: /^42$/, text: /Test message/ })
})

t.test('a target that the network refuses', async (t) => {
  const { stub, diagnose } = await linkedBot(t)
  stub.next('sendMessage', refusal(400, 'Bad Request: chat not found'))
  const found = await diagnose('42')
  t.match(found.cause, { step: 'send', text: /chat not found/ })
  t.match(found.next_action, /./)
})

t.test('a token that was revoked on the network', async (t) => {
  const { stub, diagnose, state, pollsGet } = await linkedBot(t)
  const unauthorized = refusal(401, 'Unauthorized')
  stub.next('getMe', ...always(unauthorized))
  pollsGet(...always(unauthorized))
  await state('logged_out')
  const found = await diagnose('42')
  t.match(found.cause, { step: 'credential', code: 'session_revoked' })
  t.match(found.next_action, /Link the account again/)
  t.same(verdicts(found).slice(0, 3), ['passed', 'failed', 'skipped'])
})

t.test('a webhook that somebody set on the network', async (t) => {
  const { diagnose, state, pollsGet } = await linkedBot(t)
  const taken = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook"
  pollsGet(...always(refusal(409, taken)))
  await state('connecting')
  const found = await diagnose('42')
  t.match(found.cause, { step: 'credential', code: 'webhook_set' })
  t.match(found.next_action, /deleteWebhook/)
})

t.test('another program that polls with the token', async (t) => {
  const { diagnose, state, pollsGet } = await linkedBot(t)
  const taken = 'Conflict: terminated by other getUpdates request; make sure that only one runs'
  pollsGet(...always(refusal(409, taken)))
  await state('failed')
  const found = await diagnose('42')
  t.match(found.cause, { step: 'credential', code: 'replaced_elsewhere' })
  t.match(found.next_action, /End the other client/)
})

t.test('a network that is down', async (t) => {
  const { stub, diagnose, state, pollsGet } = await linkedBot(t)
  stub.next('getMe', ...always(html))
  pollsGet(...always(html))
  await state('connecting')
  const found = await diagnose('42')
  t.match(found.cause, { step: 'credential', code: 'bad_answer' })
  t.match(found.next_action, /Wait/)
})
