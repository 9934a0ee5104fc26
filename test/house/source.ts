/** Reads the source as data: what each file imports and exports, and how long its functions are. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync, Visitor } from 'vite'

export const root = join(import.meta.dirname, '..', '..')

export interface Import {
  /** Path from the root. */
  readonly target: string
  /** `*` stands for all names: a namespace import, or a module that is loaded at run time. */
  readonly names: readonly string[]
  readonly isType: boolean
}

export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly imports: readonly Import[]
  readonly exports: readonly string[]
  readonly functions: readonly { readonly name: string; readonly lines: number }[]
}

const production = ['machines', 'actors', 'src'].map((folder) => `${folder}/**/*.{ts,tsx}`)
const others = ['test/**/*.{ts,tsx}', 'bench/**/*.ts', 'bin/**/*.mjs']

const find = (patterns: string[]) => patterns.flatMap((it) => globSync(it, { cwd: root })).sort()

export const readProduction = (): SourceFile[] => find(production).map(readSource)
export const readOthers = (): SourceFile[] => find(others).map(readSource)

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const { module, program, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const starts = lineStarts(text)
  const resolve = (specifier: string) => join(dirname(path), specifier)
  const imports: Import[] = []
  for (const { moduleRequest, entries } of module.staticImports) {
    if (!moduleRequest.value.startsWith('.')) continue
    const names = entries.map(({ importName }) => importName.name ?? '*')
    const isType = entries.length > 0 && entries.every((entry) => entry.isType)
    imports.push({ target: resolve(moduleRequest.value), names, isType })
  }
  const exports: string[] = []
  for (const entry of module.staticExports.flatMap(({ entries }) => entries)) {
    const name = entry.exportName.name ?? 'default'
    if (entry.moduleRequest === null) exports.push(name)
    else {
      const target = resolve(entry.moduleRequest.value)
      imports.push({ target, names: [entry.importName.name ?? '*'], isType: entry.isType })
    }
  }
  for (const [, called = '', joined = called] of text.matchAll(
    /\b(?:import|URL|Module)\(\s*['"`](\.[^'"`]+)['"`]|\bjoin\(import\.meta\.dirname, '(\.[^']+\.tsx?)'/g,
  )) {
    imports.push({ target: resolve(joined), names: ['*'], isType: false })
  }
  const functions: { name: string; lines: number }[] = []
  const lineOf = (offset: number) => lineAt(starts, offset)
  const measure = (node: { start: number; end: number; id?: { name: string } | null }) => {
    const name = node.id?.name ?? `line ${lineOf(node.start)}`
    functions.push({ name, lines: lineOf(node.end) - lineOf(node.start) + 1 })
  }
  new Visitor({
    FunctionDeclaration: measure,
    MethodDefinition: ({ key, value }) => {
      const id = 'name' in key ? { name: `${key.name}` } : null
      measure({ start: value.start, end: value.end, id })
    },
    ArrowFunctionExpression: measure,
  }).visit(program)
  return { path, text, lines: text.trimEnd().split('\n').length, imports, exports, functions }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The line of an offset, counted from 1. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low + 1
}
