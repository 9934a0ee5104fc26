/** The signed-in user and the places where they are signed in: /user, /user/sessions. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Accounts } from '../../accounts/accounts.ts'
import type { Staff } from '../../accounts/staff.ts'
import type { User as StoredUser } from '../../accounts/users.ts'
import type { UserSession } from '../../database/entities.ts'
import { OwnUser, Session } from '../../records/account.ts'
import { authenticate, type RequestUser } from '../authenticate.ts'
import { answers, Done, done, ok, PageOf, PageQuery } from '../envelope.ts'
import { IdParams } from './owner.ts'

interface UserRoutesOptions {
  readonly accounts: Accounts
  readonly staff: Pick<Staff, 'roleOf'>
}

export const userRoutes: FastifyPluginAsyncTypebox<UserRoutesOptions> = async (
  app,
  { accounts, staff },
) => {
  app.get(
    '/user',
    {
      // Personal access tokens may read this, so that a script can check its token.
      onRequest: authenticate(accounts, { pat: true }),
      config: { scope: 'read' },
      schema: {
        tags: ['account'],
        summary: 'The account',
        security: [{ jwt: [] }, { pat: ['read'] }],
        response: answers(OwnUser),
      },
    },
    async ({ user }) => {
      const found = presentUser(await accounts.user(user.id))
      const role = await staff.roleOf(user.id)
      return ok({
        ...found,
        ...(role && { role }),
        ...(role === 'operator' && { operator: true as const }),
      })
    },
  )
}

export const userSessionRoutes: FastifyPluginAsyncTypebox<
  Pick<UserRoutesOptions, 'accounts'>
> = async (app, { accounts }) => {
  const tags = ['account']
  const onRequest = authenticate(accounts, { pat: false })
  const security = [{ jwt: [] }]

  app.get(
    '/user/sessions',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Where the user is signed in, newest first',
        security,
        querystring: PageQuery,
        response: answers(PageOf(Session)),
      },
    },
    async ({ user, query }) => {
      const { items, nextBefore } = await accounts.sessions(user.id, query)
      const sessions = items.map((session) => presentSession(session, user))
      return ok({ items: sessions, next_before: nextBefore })
    },
  )

  app.delete(
    '/user/sessions/:id',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Sign out elsewhere, or here',
        security,
        params: IdParams,
        response: answers(Done),
      },
    },
    async ({ user, params }) => {
      await accounts.endSession(params.id, user.id)
      return done
    },
  )
}

export const presentUser = ({ id, phone, createdAt }: StoredUser) => ({
  user_id: id,
  phone,
  created_at: createdAt.toISOString(),
})

const presentSession = (session: UserSession, user: RequestUser) => ({
  session_id: session.id,
  current: session.id === user.sessionId,
  ip: session.ip ?? null,
  user_agent: session.userAgent ?? null,
  created_at: session.createdAt.toISOString(),
  last_used_at: session.lastUsedAt.toISOString(),
  expires_at: session.expiresAt.toISOString(),
})
