/** The entities of MarkdownV2 while they are open: how they begin, how they end, what they are called. */
import { isFence } from './markdown-part.ts'

export type OpenKind = keyof typeof names

/** As error texts call them. A block of code is named by whether it has a language. */
export const names = {
  bold: 'Bold',
  italic: 'Italic',
  underline: 'Underline',
  strikethrough: 'Strikethrough',
  spoiler: 'Spoiler',
  code: 'Code',
  pre: 'Pre',
  preWithLanguage: 'PreCode',
  link: 'TextUrl',
  image: 'CustomEmoji',
  blockquote: 'BlockQuote',
} as const

const closers: Readonly<Record<OpenKind, string>> = {
  bold: '*',
  italic: '_',
  underline: '__',
  strikethrough: '~',
  spoiler: '||',
  code: '`',
  pre: '```',
  preWithLanguage: '```',
  link: ']',
  image: ']',
  blockquote: '',
}

/** How many characters end an entity of that kind here; 0 if none do. */
export function closerLength(kind: OpenKind, source: string, index: number): number {
  const closer = closers[kind]
  // Two underscores are never the end of an italic: they begin or end an underline.
  if (kind === 'italic' && source.startsWith('__', index)) return 0
  return source.startsWith(closer, index) ? closer.length : 0
}

/** What begins at a reserved character; undefined if it must be escaped. */
export function openerAt(
  source: string,
  index: number,
): { kind: OpenKind; length: number } | undefined {
  switch (source[index]) {
    case '*':
      return { kind: 'bold', length: 1 }
    case '_':
      return source[index + 1] === '_'
        ? { kind: 'underline', length: 2 }
        : { kind: 'italic', length: 1 }
    case '~':
      return { kind: 'strikethrough', length: 1 }
    case '|':
      return source[index + 1] === '|' ? { kind: 'spoiler', length: 2 } : undefined
    case '`':
      return isFence(source, index) ? { kind: 'pre', length: 3 } : { kind: 'code', length: 1 }
    case '[':
      return { kind: 'link', length: 1 }
    case '!':
      return source[index + 1] === '[' ? { kind: 'image', length: 2 } : undefined
    default:
      return undefined
  }
}

export const isVerbatim = (kind: OpenKind | undefined): boolean =>
  kind === 'code' || kind === 'pre' || kind === 'preWithLanguage'

const reserved = '_*[]()~`>#+-=|{}.!\n'

export const isReserved = (char: string, inside: OpenKind | undefined): boolean =>
  isVerbatim(inside) ? char === '`' : reserved.includes(char)
