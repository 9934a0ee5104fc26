/** A request to the other bot API fails before or after it was carried out: nobody is told that nothing was done when something was. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Operation } from '../../machines/model/operation.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { bale, soroush } from '../../src/platforms/upstream-bot/flavour.ts'
import { perform, sending } from './contract/scene.ts'
import {
  type Asked,
  cutOff,
  html,
  json,
  passing,
  raw,
  refusal,
  session,
  startStub,
} from './upstream-bot/stub.ts'

const operations: Readonly<Record<string, Operation>> = {
  'a call passed on': passing('sendMessage', { chat_id: 42, text: 'hi' }),
  'a text of the service': sending('42', 'hi'),
}

type Answer = (response: ServerResponse, asked: Asked) => void
const drop: Answer = (response) => void response.destroy()

/** Whether the request was carried out is not said by these. */
const unsaid: Readonly<Record<string, Answer>> = {
  'no answer': drop,
  'half an answer': cutOff,
  'the page of a proxy': html,
  'no JSON': raw(200, 'done'),
  'another JSON': json({ done: true }),
  'a defect': refusal(500, 'Internal Server Error'),
  'a bad gateway': refusal(502, 'Bad Gateway'),
  'a gateway that has waited': refusal(504, 'Gateway Timeout'),
  'a redirection': raw(307, '', { location: '/elsewhere' }),
}
/** By these it was not. */
const refused: Readonly<Record<string, Answer>> = {
  'a wrong request': refusal(400, 'Bad Request: chat not found'),
  'a wait': refusal(429, 'Too Many Requests: retry after 3', { retry_after: 3 }),
  'too much to do': refusal(503, 'Service Unavailable'),
}

async function failureOf(done: ReturnType<typeof perform>): Promise<Failure | undefined> {
  try {
    const result = await done
    return result.kind === 'passed' ? result.failure : undefined
  } catch (cause) {
    if (cause instanceof RequestFailed) return cause.failure
    throw cause
  }
}

for (const flavour of [bale, soroush]) {
  t.test(flavour.name, async (t) => {
    const stub = await startStub(t)
    const open = await session(t, stub.url, flavour)
    await open.reported('opened')
    const ask = (operation: Operation, answer: Answer) => {
      stub.next('sendMessage', answer)
      return failureOf(perform(open, operation))
    }
    for (const [name, operation] of Object.entries(operations)) {
      for (const [said, answer] of Object.entries(unsaid)) {
        t.match(await ask(operation, answer), { certain: false }, `${name}: ${said}`)
      }
      for (const [said, answer] of Object.entries(refused)) {
        const failure = await ask(operation, answer)
        t.ok(failure, `${name}: ${said}`)
        t.not(failure?.certain, false, `${name}: ${said}`)
      }
    }
  })
}
