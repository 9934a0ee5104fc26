/** Entities of link flows and of the pages on which an account's owner answers them. */
import { defineEntity, p } from '@mikro-orm/core'
import type { LinkState, ShownStep } from '../../../machines/link/events.ts'
import { bytes } from './columns.ts'

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
  },
})

export const LinkPage = defineEntity({
  name: 'LinkPage',
  tableName: 'link_page',
  properties: {
    sessionId: p.text().primary(),
    hash: bytes().unique(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})
