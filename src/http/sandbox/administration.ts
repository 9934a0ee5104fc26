/** /sandbox/people/{person}/…: photos, music, the general topic, titles, boosts and emoji statuses, as a person sets them. */
import { type Static, type TObject, Type } from 'typebox'
import type { Boost as BoostRecord } from '../../../machines/model/membership.ts'
import { SLOW_MODE_DELAYS } from '../../sandbox/chats/settings.ts'
import type { ProfileAudio } from '../../sandbox/people/profile.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { userOf } from '../management/owner.ts'
import { ShownMedia } from './content-schemas.ts'
import { mediaIngester } from './parse.ts'
import { mediaBody, nameBody } from './present.ts'
import { Boost } from './profile-schemas.ts'
import { ChatParams, described, PersonParams, type SandboxRoutes } from './route.ts'
import { BODY_LIMIT, ChatId, GivenMedia, Id } from './schemas.ts'

const strict = { additionalProperties: false }
const { data, url, file, file_name, title, performer } = GivenMedia.properties
const GivenPhoto = Type.Object({ data, url, file }, strict)
const GivenAudio = Type.Object({ data, url, file, file_name, title, performer }, strict)
const MemberParams = Type.Object({ person: Id, chat: ChatId, member: Id })
const ShortText = Type.String({ maxLength: 64 })
/** Closed forms of which no value fits two: generators know what to do with exactly one, and not all with any. */
const oneOf = <One extends TObject, Other extends TObject>(one: One, other: Other) =>
  Type.Unsafe<Static<One> | Static<Other>>({ oneOf: [one, other] })

export const photoRoutes: SandboxRoutes = async (app, { network }) => {
  for (const [path, params, subject] of [
    ['/people/:person/photo', PersonParams, 'the profile'],
    ['/people/:person/chats/:chat/photo', ChatParams, 'a chat'],
  ] as const) {
    app.put(
      path,
      {
        bodyLimit: BODY_LIMIT,
        schema: {
          ...described(`Give ${subject} a photo`),
          params,
          body: GivenPhoto,
          response: answers(Done),
        },
      },
      async (request, reply) => {
        const { params, body } = request
        const { files, actions } = network(request)
        const ingest = mediaIngester(files, userOf(request), goneSignal(reply))
        const photo = await ingest({ type: 'photo', ...body })
        await actions.setPhoto(params.person, photo, 'chat' in params ? params.chat : undefined)
        return done
      },
    )
    app.delete(
      path,
      {
        schema: {
          ...described(`Remove the newest photo of ${subject}`),
          params,
          response: answers(Done),
        },
      },
      async (request) => {
        const { params } = request
        const chat = 'chat' in params ? params.chat : undefined
        await network(request).actions.setPhoto(params.person, undefined, chat)
        return done
      },
    )
  }
}

const Audio = Type.Object({ audio_id: Type.String(), media: ShownMedia })
const AudioPlace = Type.Object({
  person: Id,
  audio: Type.String({ pattern: '^[1-9][0-9]{0,17}$' }),
})

const audioBody = ({ id, audio }: ProfileAudio): Static<typeof Audio> => ({
  audio_id: id,
  media: mediaBody(audio),
})

export const audioRoutes: SandboxRoutes = async (app, { network }) => {
  const path = '/people/:person/audios'
  app.get(
    path,
    {
      schema: {
        ...described('The music of the profile, the newest first'),
        params: PersonParams,
        response: answers(Type.Array(Audio)),
      },
    },
    async (request) =>
      ok((await network(request).audios.list(request.params.person)).map(audioBody)),
  )

  app.post(
    path,
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        ...described('Add a piece of music to the profile'),
        params: PersonParams,
        body: GivenAudio,
        response: answers(Audio),
      },
    },
    async (request, reply) => {
      const { files, audios } = network(request)
      const ingest = mediaIngester(files, userOf(request), goneSignal(reply))
      const audio = await ingest({ type: 'audio', ...request.body })
      return ok(audioBody(await audios.add(request.params.person, audio)))
    },
  )

  app.delete(
    `${path}/:audio`,
    {
      schema: {
        ...described('Take a piece of music out of the profile'),
        params: AudioPlace,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, audio } = request.params
      await network(request).audios.remove(person, audio)
      return done
    },
  )
}

const GeneralChange = oneOf(
  Type.Object(
    { do: Type.Literal('rename'), name: Type.String({ minLength: 1, maxLength: 128 }) },
    { ...strict, title: 'SandboxTopicRenaming' },
  ),
  Type.Object(
    { do: Type.Enum(['close', 'reopen', 'hide', 'unhide']) },
    { ...strict, title: 'SandboxTopicSwitch' },
  ),
)

export const administrationRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/chats/:chat/general_topic',
    {
      schema: {
        ...described('Rename, close, open, hide or show the general topic of a forum'),
        params: ChatParams,
        body: GeneralChange,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, chat } = request.params
      await network(request).actions.administer(person, {
        kind: 'edit_general_topic',
        chat: String(chat),
        change: request.body,
      })
      return done
    },
  )

  app.put(
    '/people/:person/chats/:chat/members/:member/title',
    {
      schema: {
        ...described('Give an administrator a title, or an ordinary member a tag; empty: none'),
        params: MemberParams,
        body: oneOf(
          Type.Object({ title: ShortText }, { ...strict, title: 'SandboxAdministratorTitle' }),
          Type.Object({ tag: ShortText }, { ...strict, title: 'SandboxMemberTag' }),
        ),
        response: answers(Done),
      },
    },
    async (request) => {
      const { params, body } = request
      const place = { chat: String(params.chat), person: String(params.member) }
      await network(request).actions.administer(
        params.person,
        'title' in body
          ? { kind: 'set_member_title', ...place, title: body.title }
          : { kind: 'set_member_tag', ...place, tag: body.tag },
      )
      return done
    },
  )
}

export const slowModeRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/slow_mode',
    {
      schema: {
        ...described(
          'Let ordinary members of a supergroup wait between two messages; 0: no longer',
        ),
        params: ChatParams,
        body: Type.Object({ seconds: Type.Enum([...SLOW_MODE_DELAYS]) }, strict),
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, chat } = request.params
      await network(request).chats.slowDown(chat, person, request.body.seconds)
      return done
    },
  )
}

const boostBody = ({ id, person, at, expiresAt }: BoostRecord) => ({
  boost_id: id,
  person: nameBody(person),
  add_date: at,
  expiration_date: expiresAt,
})

const MONTH = 2_592_000

export const boostRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/chats/:chat/boosts',
    {
      schema: {
        ...described('Boost a supergroup or channel: its administrators are told'),
        params: ChatParams,
        body: Type.Object(
          { seconds: Type.Integer({ minimum: 1, maximum: 31_536_000, default: MONTH }) },
          strict,
        ),
        response: answers(Boost),
      },
    },
    async (request) => {
      const { person, chat } = request.params
      const { actions } = network(request)
      return ok(boostBody(await actions.boost(person, chat, request.body.seconds)))
    },
  )

  app.get(
    '/people/:person/chats/:chat/boosts',
    {
      schema: {
        ...described('The boosts that this person gives a supergroup or channel'),
        params: ChatParams,
        response: answers(Type.Array(Boost)),
      },
    },
    async (request) => {
      const { person, chat } = request.params
      return ok((await network(request).actions.boosts(person, chat)).map(boostBody))
    },
  )

  app.delete(
    '/people/:person/chats/:chat/boosts/:boost',
    {
      schema: {
        ...described('Take a boost back'),
        params: Type.Object({ person: Id, chat: ChatId, boost: Type.String({ maxLength: 64 }) }),
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, chat, boost } = request.params
      await network(request).actions.takeBoost(person, chat, boost)
      return done
    },
  )
}

export const emojiStatusRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/emoji_status_access/:account',
    {
      schema: {
        ...described("Let an account set this person's emoji status, or no longer"),
        params: Type.Object({ person: Id, account: Id }),
        body: Type.Object({ allowed: Type.Boolean({ default: true }) }, strict),
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, account } = request.params
      await network(request).actions.allowEmojiStatus(person, account, request.body.allowed)
      return done
    },
  )
}
