/** The helpers that the routes under /sandbox share: their type, descriptions, parameters and pages. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalidField } from '../../../machines/model/failure.ts'
import type { Network } from '../../sandbox/sandbox.ts'
import { ChatId, Id } from './schemas.ts'

export type SandboxRoutes = FastifyPluginAsyncTypebox<{
  /** The network of the user who asks. A route cannot reach the network of another user. */
  readonly network: (request: FastifyRequest) => Network
}>

export const described = (summary: string) => ({
  tags: ['sandbox'],
  summary,
})

export const PersonParams = Type.Object({ person: Id })
export const ChatParams = Type.Object({ person: Id, chat: ChatId })
export const MessageParams = Type.Object({ person: Id, chat: ChatId, message: Id })

/** Lists under /sandbox are ordered by id: their cursor is an id. */
export function beforeId(before: string | undefined): { before?: number } {
  if (before === undefined) return {}
  if (!/^\d{1,15}$/.test(before)) {
    throw invalidField('before', 'is not a cursor of this list')
  }
  return { before: Number(before) }
}

export const pageOf = <Item, Body>(
  items: readonly Item[],
  limit: number,
  idOfItem: (item: Item) => number,
  body: (item: Item) => Body,
) => {
  const last = items.length === limit ? items.at(-1) : undefined
  return { items: items.map(body), next_before: last ? String(idOfItem(last)) : null }
}

/** Aborts after so many seconds, or when the caller closes the connection. A timer takes no part of a millisecond. */
export const deadline = (seconds: number, caller: AbortSignal) =>
  AbortSignal.any([caller, AbortSignal.timeout(Math.ceil(seconds * 1000))])
