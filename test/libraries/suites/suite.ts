/** A suite of a library, and how it is run in a copy of the library's checkout. */
import type { Outcome } from './outcomes.ts'
import type { Scene } from './scene.ts'

export type Replaced = readonly (readonly [string | RegExp, string])[]

export interface Suite {
  /** The packages of npm that its tests are run with, beside those that the library depends on. */
  readonly packages?: readonly string[]
  /** Files and folders of the checkout in which texts are replaced. */
  readonly changed: readonly string[]
  readonly command: readonly string[]
  /** The file that is to have what the command prints. */
  readonly printed?: string
  prepare(
    scene: Scene,
    folder: string,
  ): Promise<{ readonly env: Readonly<Record<string, string>>; readonly replaced: Replaced }>
  outcomes(folder: string): Promise<readonly Outcome[]>
}
