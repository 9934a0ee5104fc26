/** An entity at the place where a pattern matched. */
import type { DetectedKind, MessageEntity } from '../types.ts'

export const found = (type: DetectedKind, text: string, offset: number): MessageEntity => ({
  type,
  offset,
  length: text.length,
})
