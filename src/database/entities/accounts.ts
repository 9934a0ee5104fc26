/** Entities of accounts: users, sign-ins and their tokens, one-time codes, and the keys that sign access tokens. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { bytes } from './columns.ts'

export const AppUser = defineEntity({
  name: 'AppUser',
  tableName: 'app_user',
  properties: {
    id: p.bigint('number').primary(),
    phoneIndex: bytes().unique(),
    phoneSealed: bytes(),
    createdAt: p.datetime().defaultRaw('now()'),
    erasingAt: p.datetime().nullable(),
  },
})
export type AppUser = InferEntity<typeof AppUser>

export const OtpChallenge = defineEntity({
  name: 'OtpChallenge',
  tableName: 'otp_challenge',
  properties: {
    id: p.text().primary(),
    phoneIndex: bytes(),
    purpose: p.text(),
    codeMac: bytes(),
    messageSealed: bytes().nullable(),
    tries: p.integer().default(0),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    number: p.bigint('number').generated('identity'),
    requester: p.text().default(''),
    ownTries: p.integer().default(0),
    farTries: p.integer().default(0),
  },
})

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

export const RefreshToken = defineEntity({
  name: 'RefreshToken',
  tableName: 'refresh_token',
  properties: {
    hash: bytes().primary(),
    sessionId: p.bigint('number'),
    createdAt: p.datetime(),
    usedAt: p.datetime().nullable(),
  },
})

export const PersonalToken = defineEntity({
  name: 'PersonalToken',
  tableName: 'personal_token',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number'),
    name: p.text(),
    hash: bytes().unique().hidden(),
    hint: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
  },
})
export type PersonalToken = InferEntity<typeof PersonalToken>

interface PublicJwk {
  readonly kty: string
  readonly crv: string
  readonly x: string
}

export const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_key',
  properties: {
    kid: p.text().primary(),
    publicJwk: p.json().$type<PublicJwk>(),
    privateSealed: bytes(),
    createdAt: p.datetime(),
    signsFrom: p.datetime(),
    expiresAt: p.datetime().nullable(),
  },
})
export type SigningKey = InferEntity<typeof SigningKey>
