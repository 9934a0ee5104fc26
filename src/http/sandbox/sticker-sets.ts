/** /sandbox/sticker_sets: sets of stickers, for anybody to send. */
import { Type } from 'typebox'
import type { StickerSet as Record } from '../../../machines/model/content.ts'
import { answers, ok } from '../envelope.ts'
import { userOf } from '../management/owner.ts'
import { mediaBody } from './content.ts'
import { BODY_LIMIT, GivenMedia, ShownMedia } from './content-schemas.ts'
import { takingIn } from './given-content.ts'
import { described, goneSignal, type SandboxRoutes } from './route.ts'

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

const StickerSet = Type.Object({
  name: Type.String(),
  title: Type.String(),
  stickers: Type.Array(ShownMedia),
})

const body = ({ name, title, stickers }: Record) => ({
  name,
  title,
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
      const takeIn = takingIn(files, userOf(request), goneSignal(reply))
      const { name, title, stickers: given } = request.body
      const stickers = []
      for (const { emoji, ...sticker } of given) {
        stickers.push({ ...(await takeIn({ type: 'sticker', ...sticker })), emoji })
      }
      return ok(body(await stickerSets.create({ name, title, stickers })))
    },
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
    async (request) => ok(body(await network(request).stickerSets.get(request.params.name))),
  )
}
