/** A round of libraries: each by polling and by webhook, and what came of it. */
import type { Mode } from './bot-process.ts'
import type { Library } from './catalogue.ts'
import type { Doubles } from './stage.ts'
import { allSteps } from './steps/all.ts'
import { Missing, workshopOf } from './toolchains.ts'
import { runTrial, type StepResult, type Trial } from './trial.ts'

const bothModes: readonly Mode[] = ['polling', 'webhook']

export interface Report {
  readonly library: Library
  /** Why it was not run. */
  readonly missing?: string
  readonly trials: Readonly<Partial<Record<Mode, Trial>>>
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
}

/** Those whose packages are fetched in seconds. */
export const isQuick = ({ toolchain }: Library): boolean =>
  toolchain === 'python' || toolchain === 'javascript'

export async function runLibrary(library: Library): Promise<Report> {
  try {
    const workshop = await workshopOf(library.toolchain)
    const program = workshop(library.adapter)
    const { modes = bothModes, script = [...allSteps, ...(library.more ?? [])] } = library
    const trials = await Promise.all(
      modes.map(async (mode) => {
        // One that cannot start leaves the other to its end.
        const trial = await runTrial(program, mode, script).catch(failedTrial)
        return [mode, trial] as const
      }),
    )
    return report(library, Object.fromEntries(trials))
  } catch (error) {
    if (!(error instanceof Missing))
      return report(library, { [library.modes?.[0] ?? 'polling']: failedTrial(error) })
    const counts = { passed: 0, failed: 0, skipped: 1 }
    return { library, trials: {}, missing: error.message, counts }
  }
}

const report = (library: Library, trials: Report['trials']): Report => ({
  library,
  trials,
  counts: countsOf(Object.values(trials).flatMap(({ steps }) => steps)),
})

function failedTrial(error: unknown): Trial {
  const reason = error instanceof Error ? error.message : String(error)
  return { version: '', steps: [{ name: 'build and start', verdict: 'failed', reason }] }
}

/** In order, so many at a time: both ways of one library keep two cores busy, but not while a restart is waited out. */
export async function* runLibraries(
  libraries: readonly Library[],
  atOnce: number,
): AsyncGenerator<Report> {
  const reports: Promise<Report>[] = []
  for (const [index, library] of libraries.entries()) {
    const before = reports[index - atOnce]
    const begun = before ? before.then(() => runLibrary(library)) : runLibrary(library)
    reports.push(begun)
  }
  yield* reports
}

const having = (steps: readonly StepResult[], verdict: StepResult['verdict']) =>
  steps.filter((step) => step.verdict === verdict)

function countsOf(steps: readonly StepResult[]): Report['counts'] {
  const passed = having(steps, 'passed').length
  const failed = having(steps, 'failed').length
  return { passed, failed, skipped: steps.length - passed - failed }
}

/** `library version polling 38/38 webhook 38/38`, then each step that did not pass. */
export function summary(
  { library, missing, trials }: Report,
  tellsSkipped: boolean,
): readonly string[] {
  if (missing !== undefined) return [`${library.name} skipped: ${missing}`]
  const ways = Object.entries(trials).map(([mode, trial]) => `${mode} ${score(trial)}`)
  const doubles = doublesOf(trials)
  const counted = doubles ? ` ${JSON.stringify(doubles)}` : ''
  const lines = [`${library.name} ${versionOf(trials)} ${ways.join(' ')}${counted}`]
  for (const [mode, { steps }] of Object.entries(trials)) {
    for (const { name, verdict, reason } of steps) {
      const isTold = verdict === 'failed' || (tellsSkipped && verdict !== 'passed')
      if (isTold) lines.push(`  ${mode}: ${name} ${verdict}: ${reason?.slice(0, 900)}`)
    }
  }
  return lines
}

export const versionOf = (trials: Report['trials']): string =>
  Object.values(trials).find(({ version }) => version)?.version ?? ''

/** Of all trials together; undefined where nothing was counted. */
export function doublesOf(trials: Report['trials']): Doubles | undefined {
  const all = Object.values(trials).flatMap(({ doubles }) => doubles ?? [])
  if (all.length === 0) return undefined
  const sum = (name: keyof Doubles) => all.reduce((total, one) => total + one[name], 0)
  return {
    received: sum('received'),
    sent: sum('sent'),
    arrived: sum('arrived'),
    abandoned: sum('abandoned'),
    repeated: Math.max(...all.map(({ repeated }) => repeated)),
  }
}

/** Of the steps that the library and the sandbox both have. */
export function score({ steps }: Trial): string {
  const passed = having(steps, 'passed').length
  return `${passed}/${passed + having(steps, 'failed').length}`
}
