/** Questions about the import graph: circles, exports that nothing needs, small files with one importer. */
import { dirname } from 'node:path'
import type { SourceFile } from './source.ts'

/** Groups of files that import each other in a circle. Type imports count on request. */
export function circles(files: readonly SourceFile[], countTypes: boolean): string[][] {
  const paths = new Set(files.map(({ path }) => path))
  const edges = new Map(
    files.map(({ path, imports }) => {
      const counted = imports.filter(({ isType }) => countTypes || !isType)
      return [path, counted.map(({ target }) => target).filter((it) => paths.has(it))]
    }),
  )
  return strongComponents(edges).filter((component) => component.length > 1)
}

/** Tarjan's algorithm. */
function strongComponents(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const open = new Set<string>()
  const components: string[][] = []
  const visit = (node: string) => {
    index.set(node, index.size)
    lowest.set(node, index.get(node) ?? 0)
    stack.push(node)
    open.add(node)
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      else if (!open.has(next)) continue
      const reached = index.get(next) ?? 0
      lowest.set(node, Math.min(lowest.get(node) ?? 0, lowest.get(next) ?? 0, reached))
    }
    if (lowest.get(node) !== index.get(node)) return
    const component = stack.splice(stack.indexOf(node))
    for (const member of component) open.delete(member)
    components.push(component.sort())
  }
  for (const node of edges.keys()) if (!index.has(node)) visit(node)
  return components
}

export interface Exports {
  /** Exported, and no other file imports it: neither the service nor its tests and tools. */
  readonly needless: string[]
  /** The service itself does not use it, in whatever file. */
  readonly dead: string[]
}

export function unusedExports(
  production: readonly SourceFile[],
  others: readonly SourceFile[],
): Exports {
  const byService = importedNames(production)
  const byOthers = importedNames(others)
  const found: Exports = { needless: [], dead: [] }
  for (const { path, exports, text } of production) {
    for (const name of exports) {
      if (byService.has(`${path}#${name}`) || byService.has(`${path}#*`)) continue
      const isTested = byOthers.has(`${path}#${name}`) || byOthers.has(`${path}#*`)
      if (!isTested) found.needless.push(`${path}#${name}`)
      if (!isUsedInside(text, name)) found.dead.push(`${path}#${name}`)
    }
  }
  return found
}

const importedNames = (files: readonly SourceFile[]) =>
  new Set(
    files.flatMap(({ imports }) =>
      imports.flatMap(({ target, names }) => names.map((name) => `${target}#${name}`)),
    ),
  )

/** Its definition is one place; comments do not count. */
function isUsedInside(text: string, name: string): boolean {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  const word = new RegExp(`(?<![\\w$])${name.replace(/\$/g, '\\$')}(?![\\w$])`, 'g')
  return [...code.matchAll(word)].length > 1
}

const SMALL_LINES = 70

/** Small files that only one file imports, which lies in the same folder: they belong into it. */
export function fragments(production: readonly SourceFile[]): string[] {
  const importers = new Map<string, Set<string>>()
  for (const { path, imports } of production) {
    for (const { target } of imports) {
      importers.set(target, (importers.get(target) ?? new Set()).add(path))
    }
  }
  return production.flatMap(({ path, lines }) => {
    const [importer, ...more] = importers.get(path) ?? []
    const isPrivate = importer !== undefined && more.length === 0
    const isNear = isPrivate && dirname(importer) === dirname(path)
    return isNear && lines <= SMALL_LINES ? [`${path} (${lines}) into ${importer}`] : []
  })
}
