/** The answers of the routes for inline mode and web apps, as schemas. The panel derives its types from them. */
import { Type } from 'typebox'
import { ShownKeyboard } from './keyboard-schemas.ts'
import { shownContent } from './schemas.ts'

const optional = Type.Optional

export const Result = Type.Object({
  id: Type.String(),
  type: Type.String({ description: '`article`, `photo` …' }),
  title: optional(Type.String()),
  description: optional(Type.String()),
  url: optional(Type.String()),
  thumbnail_url: optional(Type.String()),
  media_url: optional(Type.String({ description: 'A file that is fetched when it is sent' })),
  inline_keyboard: optional(ShownKeyboard),
  ...shownContent,
})

export const Answer = Type.Object({
  inline_query_id: Type.String(),
  answered: Type.Boolean(),
  results: Type.Array(Result),
  next_offset: Type.String({ description: 'Empty: there are no more results' }),
  button: optional(
    Type.Object({
      text: Type.String(),
      start_parameter: optional(Type.String()),
      web_app: optional(Type.Object({ url: Type.String() })),
    }),
  ),
})

export const OpenWebApp = Type.Object({
  query_id: Type.String({ description: 'For answerWebAppQuery, once' }),
  url: Type.String({ description: 'What a client opens: with the data of the person' }),
  init_data: Type.String({
    description: 'Signed where `bot_token` is given: the sandbox does not know the keys of bots',
  }),
})
