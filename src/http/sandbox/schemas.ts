/** What goes over the wire under /sandbox. */
import { Type } from 'typebox'
import { Nullable } from '../../json/nullable.ts'
import { USERNAME } from '../forms.ts'

export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const ChatId = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "A person's id for the private chat with them, else the id of a group or channel",
})
export const Time = Type.String({ format: 'date-time' })
const Name = Type.String({ minLength: 1, maxLength: 64 })
export const Username = Type.String({ pattern: USERNAME })

export const Addressee = Type.Union([ChatId, Type.String({ pattern: '^@[A-Za-z][A-Za-z0-9_]*$' })])

export const Entity = Type.Object(
  {
    type: Type.String({ minLength: 1, maxLength: 40 }),
    offset: Type.Integer({ minimum: 0 }),
    length: Type.Integer({ minimum: 1 }),
    url: Type.Optional(Type.String()),
    language: Type.Optional(Type.String()),
    custom_emoji_id: Type.Optional(Type.String()),
    user_id: Type.Optional(Id),
    unix_time: Type.Optional(Type.Integer({ minimum: 1, maximum: 0x7fffffff })),
    date_time_format: Type.Optional(Type.String({ maxLength: 10 })),
  },
  { additionalProperties: false },
)

export const Keyboard = Type.Array(
  Type.Array(
    Type.Object(
      {
        text: Type.String({ minLength: 1 }),
        callback_data: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        url: Type.Optional(Type.String({ minLength: 1 })),
      },
      { additionalProperties: false },
    ),
  ),
)

export const NewPerson = Type.Object(
  {
    phone: Type.Optional(Type.String({ description: 'E.164; one is made up when left out' })),
    first_name: Name,
    last_name: Type.Optional(Name),
    username: Type.Optional(Username),
    language_code: Type.Optional(Type.String({ maxLength: 35 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    password_hint: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { additionalProperties: false },
)

export const PersonChange = Type.Object(
  {
    first_name: Type.Optional(Name),
    last_name: Type.Optional(Nullable(Name)),
    username: Type.Optional(Nullable(Username)),
    deactivated: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

export const Faults = Type.Object({
  drop: Type.Optional(Type.Object({ until: Time })),
  silence: Type.Optional(Type.Object({})),
  flood_wait: Type.Optional(Type.Object({ until: Time })),
  delay: Type.Optional(Type.Object({ milliseconds: Type.Integer() })),
  duplicate: Type.Optional(Type.Object({})),
  reorder: Type.Optional(Type.Object({})),
  lose_answers: Type.Optional(Type.Object({ times: Type.Integer() })),
  ban: Type.Optional(Type.Object({})),
})

export const Person = Type.Object({
  id: Type.Integer(),
  phone: Type.String(),
  username: Nullable(Type.String()),
  first_name: Type.String(),
  last_name: Nullable(Type.String()),
  language_code: Nullable(Type.String()),
  has_password: Type.Boolean(),
  deactivated: Type.Boolean(),
  linked_sessions: Type.Integer(),
  faults: Faults,
  created_at: Time,
})

export const PersonName = Type.Object({
  id: Type.Integer(),
  first_name: Type.String(),
  last_name: Type.Optional(Type.String()),
  username: Type.Optional(Type.String()),
})

export const Chat = Type.Object({
  id: Type.Integer(),
  type: Type.String(),
  title: Type.Optional(Type.String()),
  first_name: Type.Optional(Type.String()),
  last_name: Type.Optional(Type.String()),
  username: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  is_forum: Type.Optional(Type.Boolean()),
})
