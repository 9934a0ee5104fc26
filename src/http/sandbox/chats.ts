/** /sandbox/chats: groups and channels, and who is in them. */

import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import { RIGHTS } from '../../../machines/model/rights.ts'
import type { ChatRecord } from '../../sandbox/chats/chats.ts'
import { personOf } from '../../sandbox/delivery/mapping.ts'
import { answers, Done, done, ok, PageOf, PageQuery } from '../envelope.ts'
import { chatBody, mediaBody, nameBody, present } from './present.ts'
import { ChatWithMembers, Community, InviteLook, OfferedRights } from './profile-schemas.ts'
import { beforeId, described, PersonParams, pageOf, type SandboxRoutes } from './route.ts'
import { ChatId, Id, Username } from './schemas.ts'

const strict = { additionalProperties: false }

const NewChat = Type.Object(
  {
    kind: Type.Enum(['group', 'supergroup', 'channel']),
    title: Type.String({ minLength: 1, maxLength: 128 }),
    username: Type.Optional(Username),
    description: Type.Optional(Type.String({ maxLength: 255 })),
    owner: Id,
    members: Type.Optional(Type.Array(Id, { maxItems: 10_000 })),
    join_by_request: Type.Optional(
      Type.Boolean({
        description: 'Of a supergroup with a name: whoever joins by it asks to be let in',
      }),
    ),
    is_forum: Type.Optional(Type.Boolean({ description: 'Of a supergroup: with topics' })),
  },
  { additionalProperties: false },
)

const Rights = Type.Array(Type.Enum([...RIGHTS]), {
  maxItems: RIGHTS.length,
  description: "The reference's names without `can_`",
})

const Membership = Type.Object(
  {
    role: Type.Enum(['owner', 'admin', 'member'], { default: 'member' }),
    rights: Type.Optional(Rights),
    is_anonymous: Type.Boolean({ default: false }),
  },
  strict,
)

const ChatParams = Type.Object({ chat: ChatId })
const MemberParams = Type.Object({ chat: ChatId, person: Id })

const body = ({ chat, members, verification, photo, slowSeconds, ...more }: ChatRecord) => ({
  ...chatBody(chat),
  verification,
  ...(slowSeconds > 0 && { slow_mode_delay: slowSeconds }),
  ...(photo && { photo: mediaBody(photo) }),
  members: members.map(({ person, role, title, tag }) => ({
    person: nameBody(personOf(person)),
    role,
    ...present({ title, tag }),
  })),
  ...(more.generalTopic && {
    general_topic: {
      name: more.generalTopic.name,
      is_closed: more.generalTopic.isClosed,
      is_hidden: more.generalTopic.isHidden,
    },
  }),
})

export const chatRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/chats',
    {
      schema: {
        ...described('Make a group or a channel'),
        body: NewChat,
        response: answers(ChatWithMembers),
      },
    },
    async (request) => {
      const { is_forum: isForum = false, join_by_request: asks = false, ...chat } = request.body
      return ok(body(await network(request).chats.create({ ...chat, isForum, asks })))
    },
  )

  app.get(
    '/chats',
    {
      schema: {
        ...described('Groups and channels, newest first'),
        querystring: PageQuery,
        response: answers(PageOf(ChatWithMembers)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const found = await network(request).chats.list({ limit, ...beforeId(before) })
      return ok(
        pageOf(
          found,
          limit,
          ({ id }) => id,
          ({ record }) => body(record),
        ),
      )
    },
  )

  app.get(
    '/chats/:chat',
    {
      schema: {
        ...described('One group or channel'),
        params: ChatParams,
        response: answers(ChatWithMembers),
      },
    },
    async (request) => ok(body(await network(request).chats.get(request.params.chat))),
  )
}

export const memberRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/chats/:chat/members/:person',
    {
      schema: {
        ...described('Let a person join, or change their role'),
        params: MemberParams,
        body: Membership,
        response: answers(ChatWithMembers),
      },
    },
    async (request) => {
      const { chat, person } = request.params
      const { role, rights, is_anonymous: isAnonymous } = request.body
      if (rights && role !== 'admin') throw failed('bad_request', 'only administrators have rights')
      const given = rights && { rights, isAnonymous }
      return ok(body(await network(request).chats.join(chat, person, role, given)))
    },
  )

  app.get(
    '/chats/:chat/members/:person/offered_rights',
    {
      schema: {
        ...described('The rights to offer to a new administrator: those that a bot asks for'),
        params: MemberParams,
        response: answers(OfferedRights),
      },
    },
    async (request) => {
      const { chat, person } = request.params
      const offered = await network(request).chats.offeredRights(chat, person)
      const { rights, isAnonymous, isAsked } = offered
      return ok({ rights: [...rights], is_anonymous: isAnonymous, is_asked: isAsked })
    },
  )

  app.delete(
    '/chats/:chat/members/:person',
    {
      schema: {
        ...described('Let a person leave, or remove them for good'),
        params: MemberParams,
        querystring: Type.Object({ kick: Type.Boolean({ default: false }) }),
        response: answers(ChatWithMembers),
      },
    },
    async (request) => {
      const { chat, person } = request.params
      const how = request.query.kick ? 'kicked' : 'left'
      return ok(body(await network(request).chats.leave(chat, person, how)))
    },
  )
}

export const joinRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/follow',
    {
      schema: {
        ...described('Follow an invite link or a public name: in at once, or asking to be let in'),
        params: PersonParams,
        body: Type.Object(
          {
            invite_link: Type.String({
              minLength: 1,
              maxLength: 200,
              description: 'Or the public name of a group or channel: @name',
            }),
          },
          strict,
        ),
        response: answers(Type.Object({ membership: Type.Enum(['in', 'asked']) })),
      },
    },
    async (request) => {
      const { actions } = network(request)
      const { invite_link: way } = request.body
      return ok({ membership: await actions.join(request.params.person, way) })
    },
  )

  app.get(
    '/people/:person/invite',
    {
      schema: {
        ...described('Look at an invite link: where it leads, and for what price'),
        params: PersonParams,
        querystring: Type.Object({ link: Type.String({ minLength: 1, maxLength: 200 }) }),
        response: answers(InviteLook),
      },
    },
    async (request) => {
      const { actions } = network(request)
      const { link } = request.query
      const { title, kind, invite } = await actions.lookAtInvite(request.params.person, link)
      const { needsApproval, subscription } = invite
      return ok({
        title,
        type: kind,
        needs_approval: needsApproval,
        ...(subscription && {
          subscription: { star_count: subscription.stars, period: subscription.seconds },
        }),
      })
    },
  )
}

const CommunityPlace = Type.Object({
  person: Id,
  community: Id,
  chat: Type.Integer({
    ...ChatId,
    description: 'A supergroup or channel; to add or remove a bot, its id',
  }),
})

const CommunityParams = Type.Object({ person: Id, community: Id })
const CommunityName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 128 }) }, strict)
const NamedCommunity = Type.Object({ id: Type.Integer(), name: Type.String() })

export const communityRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/communities',
    {
      schema: {
        ...described('Make a community: supergroups, channels and bots that belong together'),
        params: PersonParams,
        body: CommunityName,
        response: answers(NamedCommunity),
      },
    },
    async (request) => {
      const { communities } = network(request)
      return ok(await communities.create(request.params.person, request.body.name))
    },
  )

  app.get(
    '/people/:person/communities',
    {
      schema: {
        ...described('The communities of a person, and those of the chats that they are in'),
        params: PersonParams,
        response: answers(Type.Array(Community)),
      },
    },
    async (request) => {
      const known = await network(request).communities.list(request.params.person)
      return ok(
        known.map(({ id, name, isOwn, chats, bots }) => ({
          id,
          name,
          is_own: isOwn,
          chats: chats.map(({ chat, isInside }) => ({ ...chatBody(chat), is_inside: isInside })),
          bots: bots.map(nameBody),
        })),
      )
    },
  )
}

export const ownCommunityRoutes: SandboxRoutes = async (app, { network }) => {
  app.patch(
    '/people/:person/communities/:community',
    {
      schema: {
        ...described('Rename a community that this person owns'),
        params: CommunityParams,
        body: CommunityName,
        response: answers(NamedCommunity),
      },
    },
    async (request) => {
      const { person, community } = request.params
      return ok(await network(request).communities.rename(person, community, request.body.name))
    },
  )

  app.delete(
    '/people/:person/communities/:community',
    {
      schema: {
        ...described('Delete a community that this person owns and that is empty'),
        params: CommunityParams,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, community } = request.params
      await network(request).communities.delete(person, community)
      return done
    },
  )
}

export const communityChatRoutes: SandboxRoutes = async (app, { network }) => {
  for (const [method, summary, action] of [
    ['PUT', 'Add a chat or a bot to a community that this person owns', 'add'],
    ['DELETE', 'Remove a chat or a bot from a community that this person owns', 'remove'],
  ] as const) {
    app.route({
      method,
      url: '/people/:person/communities/:community/chats/:chat',
      schema: { ...described(summary), params: CommunityPlace, response: answers(Done) },
      handler: async (request) => {
        const { person, community, chat } = request.params
        await network(request).communities[action](person, community, chat)
        return done
      },
    })
  }

  app.post(
    '/people/:person/communities/:community/chats/:chat/join',
    {
      schema: {
        ...described('Come into a chat by way of its community, or ask to be let in'),
        params: CommunityPlace,
        response: answers(Type.Object({ membership: Type.Enum(['in', 'asked']) })),
      },
    },
    async (request) => {
      const { person, community, chat } = request.params
      const membership = await network(request).communities.join(person, community, chat)
      return ok({ membership })
    },
  )
}
