/** Saved views of the list of accounts: /user/views. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { SavedView, SavedViews } from '../../bulk/views.ts'
import { SavedViewRecord, ViewQuery } from '../../records/credential.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { NOT_BLANK } from '../validation.ts'
import { type Authenticated, forUsers, IdParams, userOf } from './owner.ts'

const ViewBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
    query: ViewQuery,
  },
  { additionalProperties: false },
)

interface ViewRoutesOptions extends Authenticated {
  readonly views: SavedViews
}

const tags = ['credentials']

export const viewRoutes: FastifyPluginAsyncTypebox<ViewRoutesOptions> = async (
  app,
  { views, authenticate },
) => {
  forUsers(app, authenticate, 'link')

  app.get(
    '/user/views',
    {
      schema: {
        tags,
        summary: 'Saved views of the list of accounts, in the order in which they were made',
        response: answers(Type.Array(SavedViewRecord)),
      },
    },
    async (request) => ok((await views.list(userOf(request))).map(present)),
  )

  app.post(
    '/user/views',
    {
      schema: {
        tags,
        summary: 'Saves a view of the list of accounts',
        body: ViewBody,
        response: answers(SavedViewRecord),
      },
    },
    async (request) => {
      const { name, query } = request.body
      return ok(present(await views.add(userOf(request), { name: name.trim(), query })))
    },
  )

  app.delete(
    '/user/views/:id',
    {
      schema: {
        tags,
        summary: 'Deletes a saved view',
        params: IdParams,
        response: answers(Done),
      },
    },
    async (request) => {
      await views.remove(userOf(request), request.params.id)
      return done
    },
  )
}

const present = ({ id, name, query }: SavedView) => ({ view_id: id, name, query })
