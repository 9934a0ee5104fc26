/** /sandbox/files and /sandbox/sticker_sets: the bytes of files, and sets of stickers for everybody to send. */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { Type } from 'typebox'
import type { StickerSet as StickerSetRecord } from '../../../machines/model/media.ts'
import { answers, Failed, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { userOf } from '../management/owner.ts'
import { mediaIngester } from './parse.ts'
import { mediaBody } from './present.ts'
import { StickerSet } from './profile-schemas.ts'
import { described, type SandboxRoutes } from './route.ts'
import { BODY_LIMIT, GivenMedia } from './schemas.ts'

const Bytes = Type.Unsafe<Readable>({ type: 'string', format: 'binary' })

export const fileRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/files/:file',
    {
      schema: {
        ...described('The bytes of a file, by the name that messages show'),
        params: Type.Object({ file: Type.String({ maxLength: 100 }) }),
        response: {
          200: { content: { 'application/octet-stream': { schema: Bytes } } },
          default: Failed,
        },
      },
    },
    async (request, reply) => {
      const { stream, size } = await network(request).files.open(
        request.params.file,
        {},
        goneSignal(reply),
      )
      reply.headers({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'content-security-policy': "default-src 'none'; sandbox",
        ...(size !== undefined && { 'content-length': size }),
      })
      return reply.send(Readable.fromWeb(stream as ReadableStream<Uint8Array>))
    },
  )
}

const { data, url, file } = GivenMedia.properties
const Name = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' })

const NewStickerSet = Type.Object(
  {
    name: Name,
    title: Type.String({ minLength: 1, maxLength: 64 }),
    stickers: Type.Array(
      Type.Object(
        { emoji: Type.String({ minLength: 1, maxLength: 20 }), data, url, file },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 120 },
    ),
  },
  { additionalProperties: false },
)

const setBody = ({ name, title, type = 'regular', stickers }: StickerSetRecord) => ({
  name,
  title,
  sticker_type: type,
  stickers: stickers.map(mediaBody),
})

export const stickerSetRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/sticker_sets',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        ...described('Make a sticker set of pictures, each with its emoji'),
        body: NewStickerSet,
        response: answers(StickerSet),
      },
    },
    async (request, reply) => {
      const { files, stickerSets } = network(request)
      const ingest = mediaIngester(files, userOf(request), goneSignal(reply))
      const { name, title, stickers: given } = request.body
      const stickers = []
      for (const { emoji, ...sticker } of given) {
        stickers.push({ ...(await ingest({ type: 'sticker', ...sticker })), emoji })
      }
      return ok(setBody(await stickerSets.create({ name, title, stickers })))
    },
  )

  app.get(
    '/sticker_sets',
    {
      schema: {
        ...described('All sticker sets, for somebody who picks a sticker'),
        response: answers(Type.Array(StickerSet)),
      },
    },
    async (request) => ok((await network(request).stickerSets.list()).map(setBody)),
  )

  app.get(
    '/sticker_sets/:name',
    {
      schema: {
        ...described('One sticker set'),
        params: Type.Object({ name: Name }),
        response: answers(StickerSet),
      },
    },
    async (request) => ok(setBody(await network(request).stickerSets.get(request.params.name))),
  )
}
