/** Runs one library through all steps, by polling or by webhook, on a service of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/ports.ts'
import { startService } from '../support/service.ts'
import { withTeardown } from '../support/teardown.ts'
import { Absent, BotProcess, type Mode, type Program, Refused, type Start } from './bot-process.ts'
import { RecordingProxy } from './recording-proxy.ts'
import { type Account, type Doubles, openAccount, Stage } from './stage.ts'
import { updateKinds } from './steps/all.ts'
import type { Step } from './steps/step.ts'

/** `absent`: the library cannot; `pending`: the sandbox has no such method yet. */
type Verdict = 'passed' | 'failed' | 'absent' | 'pending'

export interface StepResult {
  readonly name: string
  readonly verdict: Verdict
  readonly reason?: string
}

export interface Trial {
  readonly version: string
  readonly steps: readonly StepResult[]
  /** Only of what was counted. */
  readonly doubles?: Doubles
}

const NOT_ON_SANDBOX = /not found on Sandbox|not supported on Sandbox/i
const secret = 'a-Secret_1'

export const runTrial = (program: Program, mode: Mode, script: readonly Step[]): Promise<Trial> =>
  withTeardown(async (t) => {
    // The picture of a game is made while its message is sent: beside other programs that takes seconds.
    const env = { FFMPEG: '', PLATFORM_TIMEOUT_MS: '15000' }
    const service = await startService(t, { env })
    const folder = await mkdtemp(join(tmpdir(), 'chapar-libraries-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const account = await openAccount(service, 'librarybot', folder)
    const proxy = new RecordingProxy()
    t.teardown(() => proxy.close())
    const start = await startOf(service.url, account, mode, proxy)
    const bot = await BotProcess.start(program, start)
    t.teardown(() => bot.stop())
    const { passages } = proxy
    const stage = new Stage(bot, account, start, { passages, restart: () => service.restart() })
    const steps: StepResult[] = []
    const judged: Step = [
      'shapes of answers and updates',
      async () => proxy.judge(mode !== 'sending'),
    ]
    for (const step of [...script, judged]) steps.push(await tryStep(stage, step))
    const { doubles } = stage
    return { version: bot.version, steps, ...(doubles.sent > 0 && { doubles }) }
  })

async function startOf(
  url: string,
  { key, ada }: Account,
  mode: Mode,
  proxy: RecordingProxy,
): Promise<Start> {
  const address = await proxy.inFrontOfService(url)
  const start = { address, key, mode, chat: ada.id, allowed_updates: updateKinds }
  if (mode !== 'webhook') return start
  const port = await freePort()
  // NoneBot has no other.
  const path = '/telegram'
  const told = await proxy.inFrontOfWebhook(`http://127.0.0.1:${port}`)
  return { ...start, webhook: { port, path, url: `${told}${path}`, secret } }
}

async function tryStep(stage: Stage, [name, run]: Step): Promise<StepResult> {
  try {
    await run(stage)
    return { name, verdict: 'passed' }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof Absent) return { name, verdict: 'absent', reason }
    const isPending = error instanceof Refused && NOT_ON_SANDBOX.test(reason)
    return { name, verdict: isPending ? 'pending' : 'failed', reason }
  }
}
