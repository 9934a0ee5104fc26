/** Which tests are held against a mutant: those that import its file, the nearest first. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const importing = /\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g

/** The files that a file imports, by path from the project. */
function importsOf(root: string, file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8')
  return [...source.matchAll(importing)].map(([, by, called]) =>
    normalize(join(dirname(file), by ?? called ?? '')),
  )
}

export class Covering {
  readonly #tests: readonly string[]
  readonly #imports = new Map<string, readonly string[]>()

  constructor(root: string, isLeftOut: (test: string) => boolean) {
    const files = ['test', 'src', 'actors', 'machines'].flatMap((folder) =>
      globSync(`${folder}/**/*.ts`, { cwd: root }),
    )
    for (const file of files) this.#imports.set(file, importsOf(root, file))
    this.#tests = files.filter((file) => file.endsWith('.test.ts') && !isLeftOut(file)).sort()
  }

  /** A test that imports the file itself, plays with fewer parts or is named alike says more of it. */
  testsFor(file: string): string[] {
    return this.#tests
      .map((test) => ({ test, ...this.#distances(test, file) }))
      .filter(({ steps }) => steps !== undefined)
      .map(({ test, steps = 0, parts }) => ({
        test,
        rank: (steps === 1 ? 0 : 16) + steps + parts / 50 - 16 * likeness(test, file),
      }))
      .sort((one, other) => one.rank - other.rank)
      .map(({ test }) => test)
  }

  /** How many imports lead from a test to a file, and how many files the test loads. */
  #distances(test: string, file: string): { steps: number | undefined; parts: number } {
    const steps = new Map([[test, 0]])
    for (const [from, far] of steps) {
      for (const to of this.#imports.get(from) ?? []) if (!steps.has(to)) steps.set(to, far + 1)
    }
    return { steps: steps.get(file), parts: steps.size }
  }
}

const wordsOf = (path: string) =>
  new Set(
    path
      .replace(/\.(test\.)?ts$/, '')
      .split(/[/-]/)
      .map((word) => word.replace(/s$/, '')),
  )

/** Shared words of two paths, from 0 to 1. */
function likeness(test: string, file: string): number {
  const [one, other] = [wordsOf(test), wordsOf(file)]
  const shared = [...one].filter((word) => other.has(word)).length
  return shared / Math.max(1, other.size)
}
