/** One example of every kind of update and of every field of a message, made from the declarations of `@gramio/types`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Member {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
}

const file = join(import.meta.dirname, '../../../node_modules/@gramio/types/out/objects.d.ts')
const text = readFileSync(file, 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '')
const interfaces = new Map(
  [...text.matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)].map(
    ([, name = '', body = '']) => [name, membersIn(body)] as const,
  ),
)
const aliases = new Map(
  [...text.matchAll(/^export type (\w+) =(.*?)(?=\n\s*\nexport|\nexport|$(?![\s\S]))/gms)].map(
    ([, name = '', type = '']) => [name, type.trim()] as const,
  ),
)

function membersIn(body: string): Member[] {
  const members = body.matchAll(/^ {4}(\w+)(\??):(.*(?:\n(?: {5}.*| {4}\).*))*)/gm)
  return [...members].map(([, name = '', mark, type = '']) => ({
    name,
    type: type.replaceAll(/\s+/g, ' ').replace(/;$/, '').trim(),
    isOptional: mark === '?',
  }))
}

/** Not what a parser that prints again would write: escapes, a number beyond 2^53, and zeros at the end. */
const WORDS = '"\\u0633\\u0644\\u0627\\u0645 \\/ <b>\\"x\\"</b> 😀 \\ud83d\\ude00"'
const numbers: Readonly<Record<string, string>> = {
  file_size: '9007199254740993',
  latitude: '35.70000',
  longitude: '5.14e1',
  date: '1700000000',
  edit_date: '1700000007',
}

/** JSON text of a value. Optional members are there down to `depth`. */
function example(type: string, name: string, depth: number): string {
  const [first = ''] = type.split('|').map((part) => part.trim())
  if (first.endsWith('[]'))
    return depth < -2 ? '[]' : `[${example(first.slice(0, -2), name, depth)}]`
  if (/^\(.*\)$/.test(first)) return example(first.slice(1, -1), name, depth)
  const alias = aliases.get(first)
  if (alias) return example(alias.replace(/^\|\s*/, ''), name, depth)
  const members = interfaces.get(first)
  if (members) return depth < -4 ? '{}' : object(members, depth - 1)
  if (/^"[^"]*"$/.test(first)) return first
  if (/^-?\d+$/.test(first)) return first
  if (first === 'number') return numbers[name] ?? '7'
  if (first === 'boolean' || first === 'true') return 'true'
  return WORDS
}

function object(members: readonly Member[], depth: number): string {
  const shown = members.filter(({ isOptional }) => !isOptional || depth > 0)
  return `{${shown.map(({ name, type }) => `"${name}":${example(type, name, depth)}`).join(',')}}`
}

const membersOf = (name: string): readonly Member[] => {
  const members = interfaces.get(name)
  if (!members) throw new Error(`${name} is not declared`)
  return members
}

const DEPTH = 3

/** The JSON text of each as `"kind":{…}`, every kind once. */
export const updateExamples: readonly string[] = membersOf('TelegramUpdate')
  .filter(({ isOptional }) => isOptional)
  .map(({ name, type }) => `"${name}":${example(type, name, DEPTH)}`)

const required = membersOf('TelegramMessage').filter(({ isOptional }) => !isOptional)

/** The JSON text of messages, every optional field in one of them. */
export const messageExamples: readonly string[] = membersOf('TelegramMessage')
  .filter(({ isOptional }) => isOptional)
  .map((field) => {
    const chat = '{"id":-1001234567890,"type":"supergroup","title":"Group"}'
    const shown = [...required.filter(({ name }) => name !== 'chat'), field].map(
      ({ name, type }) => `"${name}":${example(type, name, DEPTH)}`,
    )
    return `{${[...shown, `"chat":${chat}`].join(',')}}`
  })
