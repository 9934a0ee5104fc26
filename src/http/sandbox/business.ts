/** /sandbox/people/{person}/business and /sandbox/gifts: whom a person lets act for them, their Stars, and gifts. */
import { Type } from 'typebox'
import type { BusinessConnection as Connection } from '../../../machines/model/business.ts'
import type { Gift as GiftRecord, OwnedGift as OwnedRecord } from '../../../machines/model/gift.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { userOf } from '../management/owner.ts'
import { mediaIngester } from './parse.ts'
import { mediaBody, nameBody, present } from './present.ts'
import { BusinessConnection, BusinessRights, Gift, OwnedGift } from './profile-schemas.ts'
import { described, PersonParams, type SandboxRoutes } from './route.ts'
import { BODY_LIMIT, GivenMedia, Id } from './schemas.ts'

const strict = { additionalProperties: false }
const ConnectionParams = Type.Object({ person: Id, account: Id })

const connectionBody = (account: number, { id, rights, isEnabled }: Connection) => ({
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
        response: answers(Type.Array(BusinessConnection)),
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
          {
            rights: Type.Array(BusinessRights, {
              default: ['reply', 'read_messages'],
              maxItems: 20,
            }),
          },
          strict,
        ),
        response: answers(BusinessConnection),
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
        response: answers(BusinessConnection),
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

const giftBody = (gift: GiftRecord) => ({
  id: gift.id,
  sticker: mediaBody(gift.sticker),
  star_count: gift.stars,
  ...present({
    upgrade_star_count: gift.upgradeStars,
    total_count: gift.total,
    remaining_count: gift.remaining,
  }),
})

const ownedBody = ({ id = '', gift, sender, text, unique, ...owned }: OwnedRecord) => ({
  owned_gift_id: id,
  gift: giftBody(gift),
  date: owned.at,
  is_saved: owned.isSaved,
  ...(text.text && { text: text.text }),
  ...present({
    sender: sender && nameBody(sender),
    convert_star_count: owned.convertStars,
    unique: unique && { name: unique.name, number: unique.number },
  }),
})

export const giftRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/gifts',
    { schema: { ...described('Gifts that can be sent'), response: answers(Type.Array(Gift)) } },
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
        response: answers(Gift),
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
        response: answers(Done),
      },
    },
    async (request) => {
      const { to, gift_id, text } = request.body
      await network(request).actions.giveGift(request.params.person, to, gift_id, text)
      return done
    },
  )
}

export const ownedGiftRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/gifts',
    {
      schema: {
        ...described('The gifts that this person was given and has kept, newest first'),
        params: PersonParams,
        response: answers(Type.Array(OwnedGift)),
      },
    },
    async (request) =>
      ok((await network(request).actions.ownedGifts(request.params.person)).map(ownedBody)),
  )

  app.post(
    '/people/:person/gifts/:gift/convert',
    {
      schema: {
        ...described('Convert a gift of this person to Stars'),
        params: Type.Object({ person: Id, gift: Type.String({ maxLength: 64 }) }),
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, gift } = request.params
      await network(request).actions.convertGift(person, gift)
      return done
    },
  )
}
