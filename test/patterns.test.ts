/** Patterns of `t.match` and the like that say less than they seem to: it looks for a text within a text, and takes a list for its beginning. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseSync, Visitor } from 'vite'

const root = join(import.meta.dirname, '..')

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

/** Any list passes `[]`, and 112 passes '12'. An id has to be the whole text: a regular expression, or `t.equal`. */
function isTooLoose(node: Node): boolean {
  const { type, value, elements, quasis } = node
  if (type === 'ArrayExpression') return (elements as readonly unknown[]).length === 0
  if (type === 'TemplateLiteral') {
    return (quasis as { value: { cooked: string } }[]).every((text) => text.value.cooked === '')
  }
  return type === 'Literal' && typeof value === 'string' && /^[+-]?\d+$/.test(value)
}

/** The parts of a pattern that are written where it stands. */
function* partsOf(node: Node | null | undefined): Iterable<Node> {
  if (!node) return
  yield node
  const { properties = [], elements = [], value, expression, consequent, alternate } = node
  const inner = [properties, elements, consequent, alternate, expression].flat() as Node[]
  if (node.type === 'Property') yield* partsOf(value as Node)
  else if (/^(Object|Array|Conditional|TSAs|TSSatisfies|Parenthesized)Expression$/.test(node.type))
    for (const part of inner) yield* partsOf(part)
}

/** The places of such patterns, by line. */
function looseIn(text: string): string[] {
  const found: string[] = []
  const { program, errors } = parseSync('test.ts', text)
  if (errors[0]) throw new Error(errors[0].message)
  new Visitor({
    CallExpression({ callee, arguments: [, pattern] }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      // Strings have a method of this name, but it takes one argument.
      if (!/^(match|has|rejects|throws)$/.test(callee.property.name)) return
      for (const part of partsOf(pattern as unknown as Node)) {
        if (!isTooLoose(part)) continue
        const { start, end } = part as unknown as { start: number; end: number }
        found.push(`${text.slice(0, start).split('\n').length}: ${text.slice(start, end)}`)
      }
    },
  }).visit(program)
  return found
}

t.test('a pattern has no empty list and no bare number as a text', async (t) => {
  const files = globSync('test/**/*.{ts,tsx}', { cwd: root }).sort()
  t.ok(files.length > 500)
  const loose = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    if (!/\.(match|has|rejects|throws)\(/.test(text)) return []
    return looseIn(text).map((place) => `${file}:${place}`)
  })
  t.same(loose, [], 'write { length: 0 }, /^12$/ or t.same instead')
})

t.test('the rule finds what it is for', async (t) => {
  const found = (pattern: string) => looseIn(`t.match(found, ${pattern})`).length
  for (const pattern of [
    '[]',
    `{ a: [{ b: '12' }] }`,
    '{ a: `$' + '{id}` }',
    `{ a: is ? '1' : [] } as A`,
  ]) {
    t.ok(found(pattern) > 0, pattern)
  }
  for (const pattern of ['{ length: 0 }', '[12]', '/^12$/', "{ a: 'a12' }", '{ a: f([]) }', 'id']) {
    t.equal(found(pattern), 0, pattern)
  }
  t.equal(looseIn("t.rejects(a, { code: '42501' })").length, 1)
  t.equal(looseIn(`text.match('12')\nt.same(found, [])\nt.equal(a, '12')`).length, 0)
})
