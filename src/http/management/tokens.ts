/** Personal access tokens of the signed-in user: /user/tokens. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import type { Accounts } from '../../accounts/accounts.ts'
import { TOKEN_SCOPES, type TokenScope } from '../../accounts/personal-tokens.ts'
import type { PersonalToken } from '../../database/entities.ts'
import { IssuedToken, Token } from '../../records/account.ts'
import { authenticate } from '../authenticate.ts'
import { answers, Done, done, ok, PageOf, PageQuery } from '../envelope.ts'
import { NOT_BLANK } from '../validation.ts'
import { GIVEN_IPS, GivenIp, IdParams, rangesOf } from './owner.ts'

const TokenBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK }),
    expires_in_days: Type.Integer({ minimum: 1, maximum: 366, default: 90 }),
    scopes: Type.Array(Type.Enum([...TOKEN_SCOPES], { title: 'TokenScope' }), {
      minItems: 1,
      uniqueItems: true,
      default: ['read'],
      description: 'What it may do; `operate` is of use only to operators',
    }),
    allowed_ips: Type.Array(GivenIp, { ...GIVEN_IPS, default: [] }),
  },
  { additionalProperties: false },
)

interface TokenRoutesOptions {
  readonly accounts: Accounts
}

type Routes = FastifyPluginAsyncTypebox<{
  readonly tokens: Accounts['tokens']
  readonly onRequest: onRequestAsyncHookHandler
}>

const tags = ['account']
const security = [{ jwt: [] }]

const listRoute: Routes = async (app, { tokens, onRequest }) => {
  app.get(
    '/user/tokens',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Personal access tokens, newest first',
        security,
        querystring: PageQuery,
        response: answers(PageOf(Token)),
      },
    },
    async ({ user, query }) => {
      const { items, nextBefore } = await tokens.list(user.id, query)
      return ok({ items: items.map(present), next_before: nextBefore })
    },
  )
}

const createRoute: Routes = async (app, { tokens, onRequest }) => {
  app.post(
    '/user/tokens',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Make a personal access token',
        security,
        body: TokenBody,
        response: answers(IssuedToken),
      },
    },
    async ({ user, body }) => {
      const wanted = {
        name: body.name,
        expiresInDays: body.expires_in_days,
        scopes: body.scopes as TokenScope[],
        allowedIps: rangesOf(body.allowed_ips),
      }
      const { token, record } = await tokens.create(user.id, wanted)
      return ok({ ...present(record), token })
    },
  )
}

const deleteRoute: Routes = async (app, { tokens, onRequest }) => {
  app.delete(
    '/user/tokens/:id',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Delete a personal access token',
        security,
        params: IdParams,
        response: answers(Done),
      },
    },
    async ({ user, params }) => {
      await tokens.delete(params.id, user.id)
      return done
    },
  )
}

export const tokenRoutes: FastifyPluginAsyncTypebox<TokenRoutesOptions> = async (
  app,
  { accounts },
) => {
  const { tokens } = accounts
  // A token that could create tokens would in effect never expire.
  const onRequest = authenticate(accounts, { pat: false })
  for (const routes of [listRoute, createRoute, deleteRoute]) {
    await app.register(routes, { tokens, onRequest })
  }
}

const present = (record: PersonalToken) => ({
  token_id: record.id,
  name: record.name,
  token_hint: record.hint,
  scopes: record.scopes,
  allowed_ips: record.allowedIps,
  created_at: record.createdAt.toISOString(),
  expires_at: record.expiresAt.toISOString(),
  last_used_at: record.lastUsedAt?.toISOString() ?? null,
})
