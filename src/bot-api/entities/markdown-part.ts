/** Parts that both Markdown modes share: the head of a code block and an address in parentheses. */
import { isSpace } from './scan.ts'

/** Reads what follows the opening fence: a language if a blank ends it, and one line break. */
export function readFenceHead(text: string, start: number): { language: string; end: number } {
  let end = start
  while (!isSpace(text[end]) && text[end] !== '`') end++
  const hasLanguage = end < text.length && text[end] !== '`'
  if (!hasLanguage) end = start
  const language = text.slice(start, end)
  if (isBreak(text[end])) end += isBreak(text[end + 1]) && text[end] !== text[end + 1] ? 2 : 1
  return { language, end }
}

const isBreak = (char: string | undefined): boolean => char === '\n' || char === '\r'

export const isFence = (text: string, index: number): boolean => text.startsWith('```', index)

export const codeBlock = (language: string) =>
  language === '' ? { type: 'pre' as const } : { type: 'pre' as const, language }
