/** Rich messages in answers under /sandbox: blocks as the bot wrote them, with files as messages show them. */
import { type Static, Type } from 'typebox'
import type { RichBlock, RichListItem } from '../../../machines/model/rich.ts'
import type { ShownMedia } from './content-schemas.ts'

/** The named members of a type, without the index signature for members that the reference may add. */
type Known<Type> = { [Name in keyof Type as string extends Name ? never : Name]: Type[Name] }

/** A block; blocks within it have the same form. */
export type RichBlockBody = Omit<Known<RichBlock>, 'media' | 'blocks' | 'items'> & {
  readonly is_open?: boolean
  readonly media?: Static<typeof ShownMedia>
  readonly blocks?: readonly RichBlockBody[]
  readonly items?: readonly (Omit<RichListItem, 'blocks'> & {
    readonly blocks: readonly RichBlockBody[]
  })[]
}

export const RichBody = Type.Object(
  {
    blocks: Type.Array(
      Type.Unsafe<RichBlockBody>({
        type: 'object',
        properties: { type: { type: 'string' } },
        additionalProperties: true,
      }),
    ),
    is_rtl: Type.Optional(Type.Boolean()),
  },
  { description: 'The blocks; `text` has the same in words' },
)
