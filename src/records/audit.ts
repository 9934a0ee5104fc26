/** The record of a change in the audit log. */
import { type Static, Type } from 'typebox'
import { ACTIONS } from '../audit/actions.ts'
import { Nullable } from '../json/schemas.ts'

const Values = Nullable(Type.Record(Type.String(), Type.Unknown()))

export const AuditRecord = Type.Object({
  id: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  action: Type.String({ description: `One of ${ACTIONS.map((name) => `\`${name}\``).join(', ')}` }),
  via: Type.String({
    description:
      'How the author was known: `sign_in`, `token`, `page` (of a link), `code` (at a sign-in), `command` (of the operator); `service`: nobody did it',
  }),
  author_id: Nullable(Type.Integer({ description: 'The user who did it' })),
  session_id: Nullable(Type.Integer()),
  token_id: Nullable(Type.Integer()),
  ip: Nullable(Type.String()),
  request_id: Nullable(Type.String({ description: 'As in the header and the request log' })),
  target: Nullable(Type.String({ description: 'What it was about: `key`, `account`, `token` …' })),
  target_id: Nullable(Type.String()),
  before: Values,
  after: Values,
})
export type AuditRecord = Static<typeof AuditRecord>
