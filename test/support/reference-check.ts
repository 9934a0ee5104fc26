/** Fails a test whose service answers a bot in another shape than the reference's, or than /openapi.json describes. */
import { describeBotApi } from '../../src/bot-api/openapi.ts'
import { departuresOfResult, departuresOfUpdate } from '../reference/departures.ts'

type Value = ReturnType<typeof JSON.parse>

let isExempt = false

/** For a test file whose upstream speaks in shapes of its own, which are passed through as they are. */
export function exemptFromReference(): void {
  isExempt = true
}

/** The answer to a request of this path; those that are no bot calls pass. */
export function checkAnswer(path: string, body: Value): void {
  const [, method] = /^\/bot[^/]+\/(?:test\/)?(\w+)(?:\?|$)/.exec(path) ?? []
  if (method === undefined || body?.ok !== true) return
  refuse(departuresOfResult(method, body.result), body.result)
  refuse(undeclaredIn(method, body), body)
}

let described: Value

/** The fields around a result that the service's description of the method does not have. */
function undeclaredIn(method: string, body: object): readonly string[] {
  described ??= describeBotApi().paths
  const success = described[`/bot{api_key}/${method}`]?.post.responses[200]
  if (success === undefined) return []
  const { properties } = success.content['application/json'].schema
  const undeclared = Object.keys(body).filter((name) => !(name in properties))
  return undeclared.map((name) => `${name} is not described`)
}

export function checkUpdate(update: Value): void {
  refuse(departuresOfUpdate(update), update)
}

function refuse(departures: readonly string[], value: Value): void {
  if (isExempt || departures.length === 0) return
  const lines = departures.map((line) => `  ${line}`).join('\n')
  throw new Error(`not the reference's shape:\n${lines}\n  in ${JSON.stringify(value)}`)
}
