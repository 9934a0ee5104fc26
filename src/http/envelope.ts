/** The one envelope of every answer, as schemas and as values. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { Nullable, Values } from '../json/schemas.ts'
import { closeStalled, onClosed } from './gone-signal.ts'

const Code = Type.Optional(
  Type.String({ description: 'Why, for programs; only where `error_code` does not say it' }),
)

export const Failed = Type.Object({
  ok: Type.Literal(false),
  error_code: Type.Integer(),
  description: Type.String(),
  parameters: Type.Optional(
    Type.Object({
      retry_after: Type.Optional(Type.Integer()),
      migrate_to_chat_id: Type.Optional(Type.Integer()),
    }),
  ),
  code: Code,
  params: Type.Optional(Values),
  errors: Type.Optional(
    Type.Array(
      Type.Object({
        field: Type.String(),
        reason: Type.String(),
        code: Code,
        params: Type.Optional(Values),
      }),
    ),
  ),
})

/** The `response` schema of a route whose success carries `result`. */
export const answers = <Result extends TSchema>(result: Result) => ({
  200: Type.Object({ ok: Type.Literal(true), result }),
  default: Failed,
})

export const ok = <Result>(result: Result) => ({ ok: true as const, result })

/** The result of a route that has nothing more to tell, and its answer. */
export const Done = Type.Literal(true)
export const done = ok(true as const)

/** A page of a list, newest first; `next_before` goes back as `?before=`. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    items: Type.Array(item),
    next_before: Nullable(Type.String()),
  })

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  before: Type.Optional(Type.String({ maxLength: 200 })),
})

/** Makes the answer a download named `name`. The stream ends when the caller leaves or stops reading. */
export function fileOf(
  reply: FastifyReply,
  pieces: AsyncIterable<string>,
  file: { readonly name: string; readonly type: string },
): Readable {
  const stream = Readable.from(pieces, { objectMode: false })
  onClosed(reply.raw, () => stream.destroy())
  closeStalled(reply.raw)
  reply.header('content-disposition', `attachment; filename="${file.name}"`)
  reply.type(`${file.type}; charset=utf-8`)
  return stream
}
