/** Draws mutants of a few folders: first a kind of mistake, then a place, so that the rare kinds are tried too. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { type Change, childrenOf, operators, type SyntaxNode } from './operators.ts'

export interface Mutant extends Change {
  readonly operator: string
  /** Relative to the project. */
  readonly file: string
  readonly line: number
  /** The whole file, with the mistake. */
  readonly source: string
  readonly before: string
}

interface Place {
  readonly file: string
  readonly source: string
  readonly change: Change
}

/** A sequence of numbers from 0 to 1 that is the same for the same seed (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function* nodesOf(node: SyntaxNode): Iterable<SyntaxNode> {
  // Types make no mistakes at run time.
  if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)Expression$/.test(node.type)) return
  yield node
  for (const child of childrenOf(node)) yield* nodesOf(child)
}

function placesIn(root: string, file: string): Map<string, Place[]> {
  const source = readFileSync(join(root, file), 'utf8')
  const { program } = parseSync(file, source)
  const nodes = [...nodesOf(program as unknown as SyntaxNode)]
  return new Map(
    operators.map(({ name, changes }) => [
      name,
      nodes.flatMap((node) =>
        node.type === 'ImportDeclaration'
          ? []
          : changes(node, source).map((change) => ({ file, source, change })),
      ),
    ]),
  )
}

function mutantOf(operator: string, { file, source, change }: Place): Mutant {
  const { start, end, text } = change
  return {
    ...change,
    operator,
    file,
    line: source.slice(0, start).split('\n').length,
    source: source.slice(0, start) + text + source.slice(end),
    before: source.slice(start, end),
  }
}

/** Without an end, as long as there are places left; none is drawn twice. */
export function* draw(root: string, folders: readonly string[], seed: number): Iterable<Mutant> {
  const places = new Map<string, Place[]>()
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root })).sort()
  for (const file of files) {
    for (const [name, found] of placesIn(root, file)) {
      places.set(name, [...(places.get(name) ?? []), ...found])
    }
  }
  const next = numbersFrom(seed)
  const among = <Item>(items: readonly Item[]) => Math.floor(next() * items.length)
  for (;;) {
    const left = operators.filter(({ name }) => (places.get(name)?.length ?? 0) > 0)
    const operator = left[among(left)]
    if (!operator) return
    const found = places.get(operator.name) ?? []
    const [place] = found.splice(among(found), 1)
    if (place) yield mutantOf(operator.name, place)
  }
}
