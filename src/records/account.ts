/** Records of the signed-in user: the account, sign-ins, tokens. */
import { type Static, Type } from 'typebox'
import { Nullable } from '../json/schemas.ts'

export const Time = Type.String({ format: 'date-time' })

export const User = Type.Object({
  user_id: Type.Integer(),
  phone: Type.String(),
  created_at: Time,
})

const Role = Type.Union([Type.Literal('operator'), Type.Literal('support')])

/** Only those who run the service or help its users have a role. */
export const OwnUser = Type.Object({
  ...User.properties,
  operator: Type.Optional(Type.Literal(true)),
  role: Type.Optional(Role),
})

/** A user as the staff sees them. */
export const StaffUser = Type.Object({
  user_id: Type.Integer(),
  phone: Type.String({ description: 'Its last four digits, unless `unmasked_until` is ahead' }),
  created_at: Time,
  accounts: Type.Integer({ description: 'Linked accounts that are not deleted' }),
  accounts_out: Type.Integer({
    description: 'Of those, how many are neither online nor connecting',
  }),
  api_keys: Type.Integer({ description: 'Keys that are not revoked' }),
  unmasked_until: Nullable(Time),
  suspended_at: Nullable(Time),
  suspended_reason: Nullable(Type.String({ description: 'As an operator gave it' })),
})

export const Session = Type.Object({
  session_id: Type.Integer(),
  current: Type.Boolean({ description: 'Whether the access token of this request belongs to it' }),
  ip: Nullable(Type.String()),
  user_agent: Nullable(Type.String()),
  created_at: Time,
  last_used_at: Time,
  expires_at: Time,
})

/** Of a key or a token. */
export const AllowedIps = Type.Array(Type.String(), {
  description: 'Addresses and networks from which it may be used; empty: from anywhere',
})

export const tokenFields = {
  token_id: Type.Integer(),
  name: Type.String(),
  token_hint: Type.String({ description: 'The last four characters' }),
  scopes: Type.Array(Type.String()),
  allowed_ips: AllowedIps,
  created_at: Time,
  expires_at: Time,
  last_used_at: Nullable(Time),
}

export const Token = Type.Object(tokenFields)

export const IssuedToken = Type.Object({
  ...tokenFields,
  token: Type.String({ description: 'Shown only here: `Authorization: apikey <token>`' }),
})

const ShareRole = Type.Union([Type.Literal('viewer'), Type.Literal('developer')], {
  description: '`viewer` reads; `developer` also sees to keys, webhooks and receive settings',
})

/** How an account is shared, as its owner sees it. */
export const ShareRecord = Type.Object({
  share_id: Type.Integer(),
  role: ShareRole,
  state: Type.Union([Type.Literal('invited'), Type.Literal('active'), Type.Literal('expired')]),
  phone: Type.String(),
  user_id: Nullable(Type.Integer({ description: 'Who has accepted' })),
  created_at: Time,
  accepted_at: Nullable(Time),
  expires_at: Nullable(Type.String({ format: 'date-time', description: 'Of an invitation' })),
  api_key_ids: Type.Array(Type.Integer(), {
    description: 'Keys in use whose secret this user was shown, or whose webhook they have set',
  }),
})
export type ShareRecord = Static<typeof ShareRecord>

const Owner = Type.Object({ phone: Type.String({ description: 'Its last four digits' }) })

/** In a record of somebody else's account or key. */
export const SharedMark = Type.Optional(
  Type.Object(
    { role: ShareRole, owner: Owner },
    { description: 'Present where the account is shared with who asks' },
  ),
)

export const SentCode = Type.Object({
  challenge_id: Type.String({
    description:
      'Give it with the code: wrong tries of others then cannot use up those of this request',
  }),
  phone: Type.String(),
  expires_in: Type.Integer(),
  resend_in: Type.Integer({ description: 'Seconds until another code may be requested' }),
  channel: Type.String({ description: '`console`, `email` or `sms`' }),
})
