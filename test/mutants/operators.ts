/** The small mistakes that are tried: each takes a node of the syntax tree and says what would stand there instead. */

export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** Characters from `start` to `end` become `text`. */
export interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Operator {
  readonly name: string
  changes(node: SyntaxNode, source: string): readonly Change[]
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof Object(value).type === 'string'

/** Children in the order of the text. */
export const childrenOf = (node: SyntaxNode): SyntaxNode[] =>
  Object.values(node).flat().filter(isNode)

const part = (node: SyntaxNode, name: string) => node[name] as SyntaxNode
const parts = (node: SyntaxNode, name: string) => node[name] as readonly SyntaxNode[]
const text = ({ start, end }: SyntaxNode, source: string) => source.slice(start, end)
const instead = ({ start, end }: SyntaxNode, text: string): Change => ({ start, end, text })

/** What stands between two operands, in another spelling. */
function between(node: SyntaxNode, replacement: string): Change {
  return { start: part(node, 'left').end, end: part(node, 'right').start, text: ` ${replacement} ` }
}

const swapped = (type: string, pairs: Readonly<Record<string, string>>) => (node: SyntaxNode) => {
  const other = node.type === type ? pairs[node.operator as string] : undefined
  return other === undefined ? [] : [between(node, other)]
}

const flipped = { '===': '!==', '!==': '===', '<': '>', '>': '<', '<=': '>=', '>=': '<=' }
const moved = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const otherSigns = { '+': '-', '-': '+', '*': '/', '/': '*' }
const otherLogic = { '&&': '||', '||': '&&', '??': '||' }
const relatives: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
  floor: 'ceil',
  ceil: 'floor',
}

/** Conditions of statements and of expressions. */
const testOf = (node: SyntaxNode) =>
  ['IfStatement', 'ConditionalExpression', 'WhileStatement'].includes(node.type)
    ? [part(node, 'test')]
    : []

const isEarlyEnd = ({ type }: SyntaxNode) =>
  ['ReturnStatement', 'ContinueStatement', 'BreakStatement'].includes(type)

/** A statement in the way of another comes out: an early return, an assignment, a call whose result nobody takes. */
function removable(node: SyntaxNode): boolean {
  if (node.type === 'IfStatement') return !node.alternate && isEarlyEnd(part(node, 'consequent'))
  if (node.type !== 'ExpressionStatement') return false
  const { type } = part(node, 'expression')
  return ['AssignmentExpression', 'CallExpression', 'AwaitExpression'].includes(type)
}

const isStatement = (source: string) =>
  /\b(select|insert|update|delete)\b[\s\S]*\b(from|into|set)\b/.test(source)

/** A comparison of a statement turned over, or a condition left out. */
const sqlMistakes: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/ (<=|>=) /g, (found) => found.replace('=', '')],
  [/ [<>] /g, (found) => found.replace(/[<>]/, '$&=')],
  [/ (and|or) /g, (found) => (found === ' and ' ? ' or ' : ' and ')],
  [/ and [\w.]+ (=|<|>|<=|>=|is|is not) ([\w.]+|\$\d+)(?=\s|$|\))/g, () => ''],
  [/ is not null/g, () => ' is null'],
  [/ is null/g, () => ' is not null'],
  [/ desc\b/g, () => ''],
  [/ not exists/g, () => ' exists'],
]

function inStatement(node: SyntaxNode, source: string): Change[] {
  const isText = node.type === 'TemplateElement' || node.type === 'Literal'
  const written = isText ? text(node, source) : ''
  if (!isStatement(written)) return []
  return sqlMistakes.flatMap(([pattern, replace]) =>
    [...written.matchAll(pattern)].map((match) => ({
      start: node.start + match.index,
      end: node.start + match.index + match[0].length,
      text: replace(match[0]),
    })),
  )
}

export const operators: readonly Operator[] = [
  { name: 'comparison', changes: swapped('BinaryExpression', flipped) },
  { name: 'boundary', changes: swapped('BinaryExpression', moved) },
  { name: 'arithmetic', changes: swapped('BinaryExpression', otherSigns) },
  { name: 'and / or', changes: swapped('LogicalExpression', otherLogic) },
  {
    name: 'dropped operand',
    changes: (node, source) =>
      node.type === 'LogicalExpression'
        ? ['left', 'right'].map((side) => instead(node, text(part(node, side), source)))
        : [],
  },
  {
    name: 'negated condition',
    changes: (node, source) =>
      testOf(node).map((test) => instead(test, `!(${text(test, source)})`)),
  },
  {
    name: 'off by one',
    changes: (node) =>
      node.type === 'Literal' && typeof node.value === 'number'
        ? [instead(node, `${node.value + 1}`)]
        : [],
  },
  {
    name: 'boolean',
    changes: (node) =>
      node.type === 'Literal' && typeof node.value === 'boolean'
        ? [instead(node, `${!node.value}`)]
        : [],
  },
  {
    name: 'min / max, some / every',
    changes(node) {
      const property = node.type === 'MemberExpression' && !node.computed && part(node, 'property')
      const other = property ? relatives[property.name as string] : undefined
      return property && other ? [instead(property, other)] : []
    },
  },
  {
    name: 'statement left out',
    changes: (node) => (removable(node) ? [instead(node, ';')] : []),
  },
  {
    name: 'finally or catch left out',
    changes(node, source) {
      if (node.type !== 'TryStatement') return []
      const end = node.finalizer ?? node.handler
      return isNode(end) && end.type === 'BlockStatement' ? [instead(end, '{}')] : rethrown(end)
      function rethrown(handler: unknown): Change[] {
        if (!isNode(handler)) return []
        return [{ ...instead(node, text(part(node, 'block'), source)) }]
      }
    },
  },
  {
    name: 'element left out',
    changes: (node) =>
      node.type === 'ArrayExpression' && parts(node, 'elements').length > 1
        ? parts(node, 'elements')
            .slice(0, -1)
            .map((element, at) => ({
              start: element.start,
              end: parts(node, 'elements')[at + 1]?.start ?? element.end,
              text: '',
            }))
        : [],
  },
  {
    name: 'property left out',
    changes: (node, source) =>
      node.type === 'ObjectExpression'
        ? parts(node, 'properties').map(({ start, end }) => ({
            start,
            end: source[end] === ',' ? end + 1 : end,
            text: '',
          }))
        : [],
  },
  // Mistakes in statements stay unnoticed most: twice as often as any other.
  { name: 'SQL', changes: inStatement },
  { name: 'SQL', changes: inStatement },
]
