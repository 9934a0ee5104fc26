/** One thing that a bot does, judged from both sides. */
import type { Stage } from '../stage.ts'

export type Step = readonly [name: string, run: (stage: Stage) => Promise<void>]
