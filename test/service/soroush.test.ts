/** Libraries made for Soroush Plus at bots that are linked from it: a gateway plays the network, which speaks the bot API. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { Missing, pythonWith } from '../libraries/toolchains.ts'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { startService } from '../support/service.ts'

const takesMs = 240_000
t.setTimeout(takesMs)

const source = join(import.meta.dirname, 'soroush')
const python = await pythonWith(source).catch((error) => {
  if (error instanceof Missing) return error
  throw error
})
const skip = python instanceof Missing && python.message

t.test('bots of aiosplus and plustik work', { skip, timeout: takesMs }, async (t) => {
  const network = await startService(t)
  const gateway = await startService(t, { env: { SOROUSH_BOT_API_URL: network.url } })
  const [near, far] = await Promise.all([network.client(), gateway.client()])
  const bot = await near.person('Bot', 'plusbot')
  const ada = await near.person('Ada', 'ada_plus')
  const { key: token } = await near.key(await near.link(bot))
  const credential = await linkBot(far, { token }, 'soroush')
  const keys = [(await far.key(credential)).key, (await far.key(credential)).key]

  const bots = spawn(`${python}/bin/python`, [join(source, 'bots.py'), gateway.url, ...keys])
  t.teardown(() => bots.kill('SIGKILL'))
  const steps = linesOf(bots)
  t.same(await steps.next(), { me: 'plusbot' })
  await near.write(ada.id, bot.id, 'سلام')
  t.same(await steps.next(), { heard: 'سلام', chat: ada.id })
  t.match(await steps.next(), { sent: Number, file: true })
  t.same(await steps.next(), { other: 'plusbot', heard: 'سلام', sent: 'from the other key' })
  const { messages } = await near.result('GET', `/sandbox/people/${ada.id}/inbox`)
  t.same(
    messages.map((one: { text?: string; caption?: string }) => one.text ?? one.caption),
    ['from the other key', 'a file', 'and understood', 'سلام'],
    'the newest first',
  )
})

/** What a program prints, line by line; its complaints where it ends before. */
function linesOf(program: ChildProcess) {
  const complaints = text(program.stderr!)
  const lines = createInterface({ input: program.stdout! })[Symbol.asyncIterator]()
  return {
    async next(): Promise<unknown> {
      const { value, done } = await lines.next()
      if (done) throw new Error(await complaints)
      return JSON.parse(value)
    },
  }
}
