/** Runs a formatting function and shows what it did in one comparable value. */
import {
  FormatError,
  type FormattedText,
  type MessageEntity,
} from '../../../src/bot-api/entities/entity.ts'

/** An entity as `[kind, the text it covers, what else it says]`, which reads better than offsets. */
export type Shown = [kind: string, covered: string, more?: Record<string, unknown>]

export function show({ text, entities }: FormattedText): Shown[] {
  return entities.map((entity) => {
    const { type, offset, length, ...more } = entity
    const covered = text.slice(offset, offset + length)
    return Object.keys(more).length === 0 ? [type, covered] : [type, covered, more]
  })
}

export const showEntities = (text: string, entities: MessageEntity[]): Shown[] =>
  show({ text, entities })

/** The description of the refusal. Any other error fails the test. */
export function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof FormatError) return error.message
    throw error
  }
  return 'accepted'
}
