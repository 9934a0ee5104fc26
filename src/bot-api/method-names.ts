/** Every method name of the reference: what is known, supported or not. */
import { REFERENCE_NEWER, reference } from './reference.ts'

export const METHOD_NAMES: readonly string[] = [...Object.keys(reference), ...REFERENCE_NEWER]

/** What some methods were called before; the reference still answers to these names. */
const FORMERLY = {
  kickChatMember: 'banChatMember',
  getChatMembersCount: 'getChatMemberCount',
  setStickerSetThumb: 'setStickerSetThumbnail',
} as const

const canonical = new Map<string, string>(
  [...METHOD_NAMES.map((name) => [name, name] as const), ...Object.entries(FORMERLY)].map(
    ([name, method]) => [name.toLowerCase(), method],
  ),
)

/** The name in the reference's spelling; letter case does not matter. */
export const methodName = (name: string): string | undefined => canonical.get(name.toLowerCase())
