/** Which methods of the reference reach the network of a bot whose calls are passed through. */
import { reference } from '../../src/bot-api/reference.ts'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { ok, startStub, token } from '../platforms/upstream-bot/stub.ts'
import { startService } from '../support/service.ts'

interface Reached {
  readonly reached: readonly string[]
  /** The gateway answers these itself, because they concern the key. */
  readonly others: readonly string[]
}

export async function probeUpstream(t: Parameters<typeof startStub>[0]): Promise<Reached> {
  const stub = await startStub(t)
  const service = await startService(t, { env: { TELEGRAM_BOT_API_URL: stub.url } })
  const client = await service.client()
  const { key } = await client.key(await linkBot(client, { token }))
  const marked = new Set<string>()
  for (const [method, parameters] of reference) {
    const mark = `probe-${method}`
    stub.next(method, ok(true))
    const given = Object.fromEntries(parameters.map(({ name }) => [name, '1']))
    // The stub's answers have no method's shape, which the client would hold them to.
    await fetch(`${service.url}/bot${key}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...given, mark }),
    })
    if (stub.asked.some(({ body }) => body.mark === mark)) marked.add(method)
  }
  const methods = [...reference.keys()]
  return {
    reached: methods.filter((method) => marked.has(method)),
    others: methods.filter((method) => !marked.has(method)),
  }
}
