/** Records of linking: networks that can be linked, and a link session. */
import { Type } from 'typebox'
import { Nullable, SentenceRecord } from '../json/schemas.ts'
import { CredentialRecord } from './credential.ts'

export const LinkRecord = Type.Object({
  session_id: Type.String(),
  platform: Type.String(),
  state: Type.String(),
  method: Type.String(),
  step: Nullable(
    Type.Object(
      {
        number: Type.Integer(),
        of: Type.Integer(),
        password_may_follow: Type.Boolean({
          description: 'An account with a password asks for it in one more step',
        }),
      },
      { description: 'Which step waits for an answer; the start was the first one' },
    ),
  ),
  phone: Type.Optional(
    Type.String({ description: 'Of the account, by its last digits, until the link is over' }),
  ),
  jid: Type.Optional(
    Type.String({ description: 'Of the account, partly hidden, until the link is over' }),
  ),
  expires_in: Type.Integer({ description: 'Seconds until the link ends, if it is not finished' }),
  code_expires_in: Nullable(
    Type.Integer({ description: 'Seconds for which the sent code works, where that is known' }),
  ),
  resend_in: Nullable(Type.Integer()),
  sent_via: Type.Optional(Type.String()),
  sent_via_code: Type.Optional(SentenceRecord),
  code_length: Nullable(Type.Integer()),
  password_hint: Nullable(Type.String()),
  show: Type.Optional(
    Type.Object({ form: Type.String(), value: Type.String(), expires_in: Type.Integer() }),
  ),
  attempts_left: Type.Integer(),
  reason: Type.Optional(Type.String()),
  credential: Nullable(CredentialRecord),
})

export const OpenLinkRecord = Type.Object({
  session_id: Type.String(),
  platform: Type.String(),
  method: Type.String(),
  state: Type.String({ description: 'The step that waits for an answer' }),
  credential_id: Nullable(Type.Integer({ description: 'The account that is linked again' })),
  phone: Type.Optional(Type.String({ description: 'Of the account, by its last digits' })),
  jid: Type.Optional(Type.String({ description: 'Of the account, partly hidden' })),
  expires_in: Type.Integer({ description: 'Seconds' }),
})

export const LinkFieldRecord = Type.Object({
  name: Type.String(),
  label: Type.String(),
  secret: Type.Boolean(),
  required: Type.Boolean(),
})

export const PlatformRecord = Type.Object({
  platform: Type.String(),
  name: Type.String(),
  available: Type.Boolean(),
  unavailable_reason: Type.Optional(Type.String()),
  link: Type.Array(
    Type.Object({
      method: Type.String(),
      fields: Type.Array(LinkFieldRecord),
    }),
  ),
  capabilities: Type.Object({
    methods: Type.Array(Type.String()),
    parse_modes: Type.Array(Type.String()),
    update_types: Type.Array(Type.String()),
    inline_keyboards: Type.Boolean(),
    reply_keyboards: Type.Boolean(),
    limits: Type.Record(Type.String(), Type.Number()),
  }),
})
