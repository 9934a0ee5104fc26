/** What a benchmark reports: a figure of ours, its bare counterpart, and whether the target is met. */
import type { Stage } from './stage.ts'

export interface Finding {
  readonly what: string
  readonly ours: string
  readonly bare?: string
  readonly ratio?: number
  readonly target?: string
  readonly met?: boolean
}

export type Benchmark = (stage: Stage) => Promise<readonly Finding[]>

/** Ours against bare, where more is better. */
export const atLeast = (ours: number, bare: number, target: number) => ({
  ratio: ours / bare,
  target: `≥ ${target}`,
  met: ours / bare >= target,
})

/** Ours against bare, where less is better. */
export const atMost = (ours: number, bare: number, target: number) => ({
  ratio: ours / bare,
  target: `≤ ${target}`,
  met: ours / bare <= target,
})

/** A figure that has to stay below a limit of its own. */
export const below = (value: number, limit: number, shown: string) => ({
  target: `< ${shown}`,
  met: value < limit,
})

/** A figure that has to reach a floor of its own. */
export const reaches = (value: number, floor: number, shown: string) => ({
  target: `≥ ${shown}`,
  met: value >= floor,
})

const columns = ['', 'what', 'ours', 'bare', 'ratio', 'target', 'met'] as const

export function tableOf(found: readonly (Finding & { readonly benchmark: string })[]): string {
  const rows = found.map(({ benchmark, what, ours, bare = '', ratio, target = '', met }) => [
    benchmark,
    what,
    ours,
    bare,
    ratio === undefined ? '' : ratio.toFixed(2),
    target,
    met === undefined ? '' : met ? 'yes' : 'NO',
  ])
  const widths = columns.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return [line(columns), ...rows.map(line)].map((text) => text.trimEnd()).join('\n')
}
