/** Entities of linked accounts and of the API keys that serve them. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { AccountIdentity } from '../../../actors/ports/platform.ts'
import type { Scope } from '../../../machines/api-key/events.ts'
import type { Filter } from '../../../machines/model/update-kinds.ts'
import type { Progress } from '../../../machines/webhook/progress.ts'
import { bytes } from './columns.ts'

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
    createdAt: p.datetime().defaultRaw('now()'),
    deactivatedAt: p.datetime().nullable(),
    deletingAt: p.datetime().nullable(),
    epoch: p.bigint('number').defaultRaw('0'),
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
    oldSecretHash: bytes().nullable(),
    oldSecretUntil: p.datetime().nullable(),
    cursor: p.bigint('number'),
    filter: p.json().$type<Filter>().defaultRaw(`'[]'`),
    polled: p.boolean().default(false),
    droppedUpdates: p.bigint('number').defaultRaw('0'),
    droppedAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    webhookProgress: p.json().$type<Progress>().nullable(),
  },
})
