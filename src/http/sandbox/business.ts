/** /sandbox/people/{person}/business and /sandbox/gifts: whom a person lets act for them, their Stars, and gifts. */
import { Type } from 'typebox'
import { BUSINESS_RIGHTS, type BusinessConnection } from '../../../machines/model/business.ts'
import type { Gift } from '../../../machines/model/gift.ts'
import { answers, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { userOf } from '../management/owner.ts'
import { ShownMedia } from './media-schemas.ts'
import { mediaIngester } from './parse.ts'
import { mediaBody, present } from './present.ts'
import { described, PersonParams, type SandboxRoutes } from './route.ts'
import { BODY_LIMIT, GivenMedia, Id } from './schemas.ts'

const strict = { additionalProperties: false }
const Right = Type.Enum([...BUSINESS_RIGHTS])
const ConnectionParams = Type.Object({ person: Id, account: Id })

const Connection = Type.Object({
  business_connection_id: Type.String(),
  account: Type.Integer({ description: 'The account that acts for the person' }),
  rights: Type.Array(Right, { description: "The reference's names without `can_`" }),
  is_enabled: Type.Boolean(),
})

const connectionBody = (account: number, { id, rights, isEnabled }: BusinessConnection) => ({
  business_connection_id: id,
  account,
  rights: [...rights],
  is_enabled: isEnabled,
})

export const businessRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/business',
    {
      schema: {
        ...described('The accounts that act for the business of this person'),
        params: PersonParams,
        response: answers(Type.Array(Connection)),
      },
    },
    async (request) => {
      const found = await network(request).actions.businessConnections(request.params.person)
      return ok(found.map(({ account, connection }) => connectionBody(account, connection)))
    },
  )

  app.put(
    '/people/:person/business/:account',
    {
      schema: {
        ...described("Let an account act in this person's private chats"),
        params: ConnectionParams,
        body: Type.Object(
          { rights: Type.Array(Right, { default: ['reply', 'read_messages'], maxItems: 20 }) },
          strict,
        ),
        response: answers(Connection),
      },
    },
    async (request) => {
      const { person, account } = request.params
      const { actions } = network(request)
      const rights = [...new Set(request.body.rights)]
      return ok(connectionBody(account, await actions.connectBusiness(person, account, rights)))
    },
  )

  app.delete(
    '/people/:person/business/:account',
    {
      schema: {
        ...described('No longer let an account act for this person'),
        params: ConnectionParams,
        response: answers(Connection),
      },
    },
    async (request) => {
      const { person, account } = request.params
      const { actions } = network(request)
      return ok(connectionBody(account, await actions.disconnectBusiness(person, account)))
    },
  )
}

const { data, url, file } = GivenMedia.properties
const Stars = Type.Integer({ minimum: 1, maximum: 100_000 })

const GiftBody = Type.Object({
  id: Type.String(),
  sticker: ShownMedia,
  star_count: Type.Integer(),
  upgrade_star_count: Type.Optional(Type.Integer()),
  total_count: Type.Optional(Type.Integer()),
  remaining_count: Type.Optional(Type.Integer()),
})

const giftBody = (gift: Gift) => ({
  id: gift.id,
  sticker: mediaBody(gift.sticker),
  star_count: gift.stars,
  ...present({
    upgrade_star_count: gift.upgradeStars,
    total_count: gift.total,
    remaining_count: gift.remaining,
  }),
})

export const giftRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/gifts',
    { schema: { ...described('Gifts that can be sent'), response: answers(Type.Array(GiftBody)) } },
    async (request) => ok((await network(request).gifts.available()).map(giftBody)),
  )

  app.post(
    '/gifts',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        ...described('Add a gift that can be sent'),
        body: Type.Object(
          {
            sticker: Type.Object({ data, url, file }, strict),
            star_count: Stars,
            upgrade_star_count: Type.Optional(Stars),
            total_count: Type.Optional(Stars),
          },
          strict,
        ),
        response: answers(GiftBody),
      },
    },
    async (request, reply) => {
      const { body } = request
      const { files, gifts } = network(request)
      const ingest = mediaIngester(files, userOf(request), goneSignal(reply))
      const sticker = await ingest({ type: 'sticker', ...body.sticker })
      const terms = present({ upgradeStars: body.upgrade_star_count, total: body.total_count })
      return ok(giftBody(await gifts.make({ sticker, stars: body.star_count, ...terms })))
    },
  )

  app.post(
    '/people/:person/gifts',
    {
      schema: {
        ...described('Give a person or a channel a gift'),
        params: PersonParams,
        body: Type.Object(
          {
            to: Type.Integer(),
            gift_id: Type.String({ maxLength: 32 }),
            text: Type.String({ maxLength: 128, default: '' }),
          },
          strict,
        ),
        response: answers(Type.Literal(true)),
      },
    },
    async (request) => {
      const { to, gift_id, text } = request.body
      await network(request).actions.giveGift(request.params.person, to, gift_id, text)
      return ok(true as const)
    },
  )
}
