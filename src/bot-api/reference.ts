/** The reference (Telegram's Bot API) as data: its methods with their parameters, and the names that they had. */
import { table } from './reference-table.ts'

export { REFERENCE_VERSION } from './reference-table.ts'

/** Methods of version 10.4, as far as their names are known. */
const NEWER = [
  'sendWidget',
  'sendSharedWidget',
  'answerWidgetQuery',
  'editMessageWidgetData',
  'editSharedWidgetData',
] as const

type Table = typeof table
type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text

export type ParameterName =
  Words<Table[keyof Table]> extends infer Word
    ? Word extends `${infer Name}:${string}`
      ? Name
      : never
    : never

interface ReferenceParameter {
  readonly name: ParameterName
  /** `number` is any number, `json` any structure. */
  readonly type: 'number' | 'string' | 'boolean' | 'chat' | 'file' | 'json'
  readonly required: boolean
}

/** Each method of `REFERENCE_VERSION`, by its name. */
export const reference: ReadonlyMap<string, readonly ReferenceParameter[]> = new Map(
  Object.entries(table).map(([method, words]) => [method, words.split(' ').flatMap(parameterIn)]),
)

function parameterIn(word: string): ReferenceParameter[] {
  const [name, type] = word.replace('!', '').split(':')
  // An empty text has one empty word.
  if (!name) return []
  const isRequired = word.endsWith('!')
  return [{ name, type, required: isRequired } as ReferenceParameter]
}

/** Every method name of the reference: what is known, supported or not. */
export const METHOD_NAMES: readonly string[] = [...reference.keys(), ...NEWER]

/** Methods that the reference does not have: an account of a person has chats, a bot has none. */
export const METHODS_BEYOND = ['getChats', 'getChatHistory', 'markAsRead', 'resolvePhone'] as const

/** Earlier names of some methods; the reference still answers to them. */
const FORMERLY = {
  kickChatMember: 'banChatMember',
  getChatMembersCount: 'getChatMemberCount',
  setStickerSetThumb: 'setStickerSetThumbnail',
} as const

const canonical = new Map<string, string>(
  [
    ...[...METHOD_NAMES, ...METHODS_BEYOND].map((name) => [name, name] as const),
    ...Object.entries(FORMERLY),
  ].map(([name, method]) => [name.toLowerCase(), method]),
)

/** The name in the reference's spelling; letter case does not matter. */
export const methodName = (name: string): string | undefined => canonical.get(name.toLowerCase())
