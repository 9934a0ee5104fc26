/** The tests that the authors of a library wrote for the reference's server, and how they are run here. */
import { execFile } from 'node:child_process'
import { Missing } from '../toolchains.ts'
import type { Scene } from './scene.ts'

export interface Outcome {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'skipped'
  readonly reason: string
}

export type Replaced = readonly (readonly [from: string | RegExp, to: string])[]
export type Environment = Readonly<Record<string, string>>

export interface Suite {
  readonly name: string
  /** On the page of results: the name with its link, and where the tests are from. */
  readonly title: string
  readonly source: string
  /** The bot's name, where tests expect one. */
  readonly bot?: string
  /** Fetches the source as it is published with its tests; without it, only a checkout has them. */
  readonly published?: () => Promise<string>
  /** Files and folders of the source in which texts are replaced. */
  readonly changed: readonly string[]
  /** Puts into the scene what the tests take for granted; `folder` has a copy of the source. */
  prepare(
    scene: Scene,
    folder: string,
  ): Promise<{ readonly env: Environment; readonly replaced: Replaced }>
  run(folder: string, env: Environment): Promise<readonly Outcome[]>
}

interface Printed {
  readonly stdout: string
  readonly stderr: string
}

/** Resolves with what was printed, whatever the command's end: its report tells of the tests. */
export const run = (
  [file = '', ...args]: readonly string[],
  cwd: string,
  env: Environment = {},
): Promise<Printed> =>
  new Promise((resolve, reject) => {
    const limits = { maxBuffer: 256 << 20, timeout: 15 * 60_000 }
    const options = { cwd, env: { ...process.env, ...env }, ...limits }
    execFile(file, args, options, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') reject(new Missing(`${file} is not installed`))
      else resolve({ stdout, stderr })
    })
  })
