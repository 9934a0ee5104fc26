/** The records a user sees of an account: sign-ins and personal access tokens. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core'

export const UserSession = defineEntity({
  name: 'UserSession',
  tableName: 'user_session',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number'),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime(),
    expiresAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
})
export type UserSession = InferEntity<typeof UserSession>

export const PersonalToken = defineEntity({
  name: 'PersonalToken',
  tableName: 'personal_token',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number'),
    name: p.text(),
    hash: p.blob().unique().hidden(),
    hint: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
  },
})
export type PersonalToken = InferEntity<typeof PersonalToken>
