/** Every entity that MikroORM manages: the rows of the record tables. A new one also stands in the list at the end. */
import {
  defineEntity,
  type EntitySchema,
  type InferEntity,
  LockMode,
  p,
  raw,
} from '@mikro-orm/core'
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type { Keeps } from '../../actors/ports/ports.ts'
import type { Scope } from '../../machines/api-key/events.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import type { LinkState, ShownStep } from '../../machines/link/events.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { Progress } from '../../machines/webhook/progress.ts'

/** An option of reading: others wait with the row until the transaction ends. */
export const forUpdate = { lockMode: LockMode.PESSIMISTIC_WRITE }

/** The driver reads and writes `bytea` as buffers. */
const bytes = () => p.blob().$type<Buffer>()

/** The start of the current transaction by the database's clock, or an interval of PostgreSQL before it. */
export const databaseNow = (ago?: string): Date =>
  raw<Date>(ago === undefined ? 'now()' : `now() - interval '${ago}'`)

export const AppUser = defineEntity({
  name: 'AppUser',
  tableName: 'app_user',
  properties: {
    id: p.bigint('number').primary(),
    phoneIndex: bytes().unique(),
    phoneSealed: bytes(),
    createdAt: p.datetime().defaultRaw('now()'),
    erasingAt: p.datetime().nullable(),
    suspendedAt: p.datetime().nullable(),
    suspendedReason: p.text().nullable(),
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
    sendingUntil: p.datetime().nullable(),
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
    scopes: p.array().$type<string[]>(),
    allowedIps: p.array().$type<string[]>(),
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

export const Credential = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number'),
    platform: p.text(),
    nativeId: p.text(),
    account: p.json().$type<AccountIdentity>().nullable(),
    accountSealed: bytes().nullable(),
    secrets: bytes().nullable().lazy(),
    machineState: p.text().default('resuming'),
    state: p.text().default('connecting'),
    reason: p.text().nullable(),
    action: p.text().default('none'),
    limitedUntil: p.datetime().nullable(),
    includeSelfUpdates: p.boolean().default(false),
    includeChannelUpdates: p.boolean().default(false),
    includeChannelUpdateRecovery: p.boolean().default(false),
    includeDeletedUpdates: p.boolean().default(false),
    healthy: p.boolean().nullable(),
    checkedAt: p.datetime().nullable(),
    lastEventAt: p.datetime().nullable(),
    latencyMs: p.integer().nullable(),
    onlineSince: p.datetime().nullable(),
    node: p.text().nullable(),
    tags: p.array().$type<string[]>().defaultRaw(`'{}'`),
    /** The name of the node that runs it, where an operator has chosen one. */
    pinnedNode: p.text().nullable().lazy(),
    leftNode: p.text().nullable().lazy(),
    /** A trigger writes this column and the next two. */
    troubledSince: p.datetime().nullable(),
    /** How many times in a row it stopped working, each less than a quarter of an hour after the one before. */
    drops: p.integer().default(0),
    lastDropAt: p.datetime().nullable(),
    /** The last transaction that changed the account's name. A trigger writes it. */
    identityAt: p.text().columnType('xid8').defaultRaw('pg_current_xact_id()').lazy(),
    createdAt: p.datetime().defaultRaw('now()'),
    deactivatedAt: p.datetime().nullable(),
    deletingAt: p.datetime().nullable(),
    epoch: p.bigint('number').defaultRaw('0'),
    /** The epoch of its last new link: an owner of an earlier one has the session of a link before. */
    linkedEpoch: p.bigint('number').defaultRaw('0').lazy(),
    /** How often it was linked again. */
    links: p.integer().default(0).lazy(),
  },
})
export type Credential = InferEntity<typeof Credential>

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number'),
    credentialId: p.bigint('number'),
    name: p.text(),
    scopes: p.array().$type<Scope[]>(),
    secretHash: bytes(),
    keyHint: p.text(),
    allowedIps: p.array().$type<string[]>().defaultRaw(`'{}'`),
    oldSecretHash: bytes().nullable(),
    oldSecretUntil: p.datetime().nullable(),
    cursor: p.bigint('number'),
    filter: p.json().$type<Filter>().defaultRaw(`'[]'`),
    /** Written by nodes of the version before. */
    polled: p.boolean().default(false).lazy(),
    /** Null once a webhook was set. */
    polledAt: p.datetime().nullable(),
    droppedUpdates: p.bigint('number').defaultRaw('0'),
    droppedAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    webhookProgress: p.json().$type<Progress>().nullable(),
    keepsExchanges: p.text().$type<Keeps>().default('failed'),
    keepsCalls: p.text().$type<Keeps>().default('failed'),
  },
})

export const LinkSession = defineEntity({
  name: 'LinkSession',
  tableName: 'link_session',
  properties: {
    id: p.text().primary(),
    userId: p.bigint('number'),
    platform: p.text(),
    method: p.text(),
    state: p.text().$type<LinkState>(),
    step: p.json().$type<ShownStep>().nullable(),
    stored: bytes().nullable(),
    attemptsLeft: p.integer(),
    reason: p.text().nullable(),
    relinks: p.bigint('number').nullable(),
    credentialId: p.bigint('number').nullable(),
    resendAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
    createdAt: p.datetime().defaultRaw('now()'),
    target: p.text().nullable(),
    node: p.integer().nullable(),
    signingOut: p.boolean().default(false),
  },
})

/** SQL: the session of a flow may be signed in, and no account has it. */
export const mayBeSignedIn = `stored is not null and state <> 'linked'`

export const LinkPage = defineEntity({
  name: 'LinkPage',
  tableName: 'link_page',
  properties: {
    sessionId: p.text().primary(),
    hash: bytes().unique(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export const Diagnosis = defineEntity({
  name: 'Diagnosis',
  tableName: 'diagnosis',
  properties: {
    id: p.text().primary(),
    userId: p.bigint('number'),
    apiKeyId: p.bigint('number'),
    credentialId: p.bigint('number'),
    sendTo: p.text().nullable(),
    opens: p.boolean().nullable(),
    findings: p.json().$type<readonly Finding[]>().defaultRaw(`'[]'`),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number').nullable(),
    at: p.datetime().defaultRaw('now()'),
    action: p.text(),
    via: p.text(),
    authorId: p.bigint('number').nullable(),
    sessionId: p.bigint('number').nullable(),
    tokenId: p.bigint('number').nullable(),
    ip: p.text().nullable(),
    requestId: p.text().nullable(),
    target: p.text().nullable(),
    targetId: p.text().nullable(),
    before: p.json().$type<Readonly<Record<string, unknown>>>().nullable(),
    after: p.json().$type<Readonly<Record<string, unknown>>>().nullable(),
  },
})

/** The file at the path. */
export interface PathFile {
  readonly file: { readonly native: string } | { readonly blob: string }
  readonly name?: string
  readonly mime?: string
  readonly size?: number
}

export const MediaPath = defineEntity({
  name: 'MediaPath',
  tableName: 'media_path',
  properties: {
    credentialId: p.bigint('number').primary(),
    path: p.text().primary(),
    number: p.integer(),
    source: p.text(),
    file: p.json().$type<PathFile>(),
    expiresAt: p.datetime(),
  },
})

export const entities: readonly EntitySchema[] = [
  AppUser,
  OtpChallenge,
  UserSession,
  RefreshToken,
  PersonalToken,
  SigningKey,
  Credential,
  ApiKey,
  LinkSession,
  LinkPage,
  Diagnosis,
  AuditEntry,
  MediaPath,
]
