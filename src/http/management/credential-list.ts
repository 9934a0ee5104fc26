/** GET /platforms/credentials: searched, filtered, in order; and their counts by state. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { countCredentials, searchCredentials } from '../../credentials/list.ts'
import type { RecordSource } from '../../credentials/records.ts'
import { CredentialRecord, CredentialSummary } from '../../records/credential.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { WORDS } from '../validation.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'
import { idBefore } from './page.ts'

const Words = (description: string) =>
  Type.Optional(Type.String({ pattern: WORDS, maxLength: 600, description }))

const ListQuery = Type.Object({
  ...PageQuery.properties,
  search: Type.Optional(
    Type.String({ maxLength: 100, description: 'In names, usernames and phones; or an id' }),
  ),
  state: Words('One state or several, with commas between'),
  action: Words('One action or several, with commas between'),
  platform: Type.Optional(Type.String({ maxLength: 64 })),
  sort: Type.String({
    enum: ['created', 'name', 'state', 'last_event', 'urgency'],
    default: 'created',
    description: '`urgency`: what needs somebody comes first',
  }),
  order: Type.String({ enum: ['desc', 'asc'], default: 'desc' }),
})

interface CredentialListOptions extends Authenticated {
  readonly source: RecordSource
}

const tags = ['credentials']
const listOf = (words: string | undefined) => words?.split(',')

export const credentialListRoutes: FastifyPluginAsyncTypebox<CredentialListOptions> = async (
  app,
  { source, authenticate },
) => {
  forUsers(app, authenticate)

  app.get(
    '/platforms/credentials',
    {
      schema: {
        tags,
        summary: 'Linked accounts, newest first unless sorted',
        querystring: ListQuery,
        response: answers(PageOf(CredentialRecord)),
      },
    },
    async (request) => {
      const { sort, order, before, search, state, action, platform, limit } = request.query
      if (sort === 'created') idBefore(before)
      const query = {
        search: search?.trim() || undefined,
        states: listOf(state),
        actions: listOf(action),
        platform,
        sort: sort as 'created',
        order: order as 'desc',
        before,
        limit,
      }
      return ok(await searchCredentials(source, userOf(request), query))
    },
  )

  app.get(
    '/platforms/credentials/summary',
    {
      schema: {
        tags,
        summary: 'How many there are of each state',
        response: answers(CredentialSummary),
      },
    },
    async (request) => ok(await countCredentials(source, userOf(request))),
  )
}
