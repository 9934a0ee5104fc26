/** `npm run probe:methods`: which methods of the reference answer on the sandbox, and why the others do not. */
import { REFERENCE_VERSION, reference } from '../../src/bot-api/reference.ts'
import { methodStage } from '../service/method-stage.ts'
import { probeMethods } from './methods.ts'
import { probeUpstream } from './upstream.ts'

const print = (line: string) => process.stdout.write(`${line}\n`)
const toEnd: (() => Promise<void> | void)[] = []
try {
  const t = { teardown: (work: () => Promise<void> | void) => void toEnd.unshift(work) }
  const { reached, others } = await probeUpstream(t)
  const stage = await methodStage(t)
  const probed = await probeMethods(stage)
  const width = Math.max(...probed.map(({ method }) => method.length))
  for (const { method, refusal = 'ok' } of probed) print(`${method.padEnd(width)}  ${refusal}`)

  const answered = probed.filter(({ method, refusal }) => !refusal && reference.has(method))
  const broken = probed.filter(({ isExpected, refusal }) => isExpected && refusal)
  print('')
  for (const { method, refusal } of broken) print(`should answer: ${method}: ${refusal}`)
  print(`version ${REFERENCE_VERSION} of the reference`)
  print(`${reached.length} of ${reference.size} methods reach the network of a bot on telegram-bot`)
  print(`  the gateway itself answers ${others.join(', ')}`)
  print(`${answered.length} of ${reference.size} methods answer on the sandbox`)
  process.exitCode = broken.length === 0 ? 0 : 1
} finally {
  for (const work of toEnd) await work()
}
