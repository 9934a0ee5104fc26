/** Users as operators and support find them: /users. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { failed, readBack } from '../../../machines/model/failure.ts'
import { parsePhone } from '../../accounts/phone.ts'
import type { FoundUser, Staff, StaffUsers } from '../../accounts/staff.ts'
import type { Suspensions } from '../../accounts/suspensions.ts'
import { StaffUser, Time } from '../../records/account.ts'
import { maskPhone } from '../../security/redact.ts'
import { changesNothing } from '../changes.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { NOT_BLANK } from '../validation.ts'
import { type Authenticated, forUsers, IdParams, userOf } from './owner.ts'
import { idBefore, pageOf } from './page.ts'

interface StaffRoutesOptions extends Authenticated {
  readonly staff: Staff
  readonly users: StaffUsers
  readonly suspensions: Suspensions
}

const Id = Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const UsersQuery = Type.Object({
  ...PageQuery.properties,
  // Each phone is opened with a key of its user.
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  phone: Type.Optional(Type.String({ maxLength: 40, description: 'The whole phone of the user' })),
  user_id: Id,
  credential_id: Id,
  api_key_id: Id,
})

const ReasonBody = Type.Object(
  { reason: Type.String({ minLength: 3, maxLength: 500, pattern: NOT_BLANK }) },
  { additionalProperties: false },
)

const Unmasked = Type.Object({ user_id: Type.Integer(), unmasked_until: Time })

const described = { tags: ['staff'] }
const config = { scope: 'operate' } as const

type Routes = FastifyPluginAsyncTypebox<StaffRoutesOptions>

const presented = (user: FoundUser) => ({
  user_id: user.id,
  phone: user.unmaskedUntil ? user.phone : maskPhone(user.phone),
  created_at: user.createdAt.toISOString(),
  accounts: user.accounts,
  accounts_out: user.accountsOut,
  api_keys: user.apiKeys,
  unmasked_until: user.unmaskedUntil?.toISOString() ?? null,
  suspended_at: user.suspendedAt?.toISOString() ?? null,
  suspended_reason: user.suspendedReason,
})

/** One user as this one of the staff sees them. */
async function userFor(
  { users }: Pick<StaffRoutesOptions, 'users'>,
  staffId: number,
  userId: number,
) {
  const [found] = await users.find({ staffId, userId, limit: 1 })
  if (!found) throw failed('not_found')
  return presented(found)
}

const findingRoutes: Routes = async (app, options) => {
  app.get(
    '/users',
    {
      config,
      schema: {
        ...described,
        summary: 'Users of the service, newest first, or those who own what is named',
        querystring: UsersQuery,
        response: answers(PageOf(StaffUser)),
      },
    },
    async (request) => {
      const { limit, before, phone, user_id, credential_id, api_key_id } = request.query
      const found = await options.users.find({
        staffId: userOf(request),
        phone: phone === undefined ? undefined : parsePhone(phone).number,
        userId: user_id,
        credentialId: credential_id,
        apiKeyId: api_key_id,
        before: idBefore(before),
        limit: limit + 1,
      })
      const page = pageOf(found, limit, ({ id }) => `${id}`)
      return ok({ ...page, items: page.items.map(presented) })
    },
  )
  app.get(
    '/users/:id',
    {
      config,
      schema: {
        ...described,
        summary: 'One user',
        params: IdParams,
        response: answers(StaffUser),
      },
    },
    async (request) => ok(await userFor(options, userOf(request), request.params.id)),
  )
}

const unmaskRoute: Routes = async (app, { staff }) => {
  app.post(
    '/users/:id/unmask',
    {
      schema: {
        ...described,
        summary: 'Shows you texts and phones of a user for 15 minutes',
        description: 'The user reads the reason in their audit log.',
        params: IdParams,
        body: ReasonBody,
        response: answers(Unmasked),
      },
    },
    async (request) => {
      const id = request.params.id
      const until = await staff.unmask(userOf(request), id, request.body.reason.trim())
      return ok({ user_id: id, unmasked_until: until.toISOString() })
    },
  )
}

const suspensionRoutes: Routes = async (app, options) => {
  const { staff, suspensions } = options
  const operatorOf = async (request: Pick<FastifyRequest, 'user'>) => {
    const id = userOf(request)
    if (!(await staff.isOperator(id))) throw failed('forbidden', 'only for operators')
    return id
  }
  app.post(
    '/users/:id/suspend',
    {
      schema: {
        ...described,
        summary: 'Suspends a user: they are refused everywhere, and nothing is delivered',
        description:
          'For operators. The user reads the reason whenever they are refused. Accounts stay linked, and updates wait.',
        params: IdParams,
        body: ReasonBody,
        response: answers(StaffUser),
      },
    },
    async (request) => {
      const userId = request.params.id
      const id = await operatorOf(request)
      // Two operators could lock each other out.
      if (await staff.isOperator(userId)) {
        const reason = 'operator_not_suspended'
        throw failed('forbidden', 'an operator is not suspended', { reason })
      }
      await suspensions.suspend(userId, request.body.reason.trim())
      return ok(await readBack(userFor(options, id, userId)))
    },
  )
  app.post(
    '/users/:id/unsuspend',
    {
      schema: {
        ...described,
        summary: 'Ends the suspension of a user: what has waited is delivered',
        description: 'For operators. Changes nothing where the user is not suspended.',
        params: IdParams,
        response: answers(StaffUser),
      },
    },
    async (request) => {
      const userId = request.params.id
      const id = await operatorOf(request)
      if (!(await suspensions.end(userId))) changesNothing(request)
      return ok(await readBack(userFor(options, id, userId)))
    },
  )
}

/** For those whose phones stand in OPERATOR_PHONES or SUPPORT_PHONES. Other users get 403. */
export const staffRoutes: Routes = async (app, options) => {
  const { authenticate, staff } = options
  forUsers(app, authenticate, 'operate')
  app.addHook('onRequest', async (request) => {
    if (await staff.roleOf(userOf(request))) return
    throw failed('forbidden', 'only for operators and support')
  })
  for (const routes of [findingRoutes, unmaskRoute, suspensionRoutes]) {
    await routes(app, options)
  }
}
