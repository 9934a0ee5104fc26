/** Signing in and out: /auth/sendOtp, /auth/login, /auth/refresh, /auth/logout, and the keys of the tokens. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Accounts, SignedIn } from '../../accounts/accounts.ts'
import { SentCode, User } from '../../records/account.ts'
import { answers, Done, done, Failed, ok } from '../envelope.ts'
import { ONE_TIME_CODE } from '../validation.ts'
import { presentUser } from './user.ts'

interface AccountRoutesOptions {
  readonly accounts: Accounts
}

const tags = ['auth']

/** Bodies of these routes are a few hundred bytes. */
const BODY_LIMIT = 65_536

const strict = { additionalProperties: false }
const Phone = Type.String({ maxLength: 40, description: 'In international form: +14155550123' })
export const LoginBody = Type.Object(
  {
    phone: Phone,
    otp: Type.String({ pattern: ONE_TIME_CODE }),
    challenge_id: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description: 'As /auth/sendOtp answered it. Without it the caller is known by its network',
      }),
    ),
  },
  strict,
)
const RefreshBody = Type.Object({ refresh_token: Type.String({ maxLength: 200 }) }, strict)

const SignIn = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  refresh_token: Type.String({ description: 'Good for one use: the next answer has a new one' }),
  user: User,
})

const Jwk = Type.Object({
  kty: Type.String(),
  crv: Type.String(),
  x: Type.String(),
  kid: Type.String(),
  alg: Type.String(),
  use: Type.String(),
})

const clientOf = ({ id, ip, headers }: FastifyRequest) => ({
  ip,
  userAgent: headers['user-agent'],
  requestId: id,
})

type Routes = FastifyPluginAsyncTypebox<AccountRoutesOptions>

const sendingRoute: Routes = async (app, { accounts }) => {
  app.post(
    '/auth/sendOtp',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Send a one-time code to a phone',
        description: 'The answer is the same whether or not the phone has an account.',
        body: Type.Object({ phone: Phone }, strict),
        response: answers(SentCode),
      },
    },
    async (request) => {
      const sent = await accounts.sendOtp(request.body.phone, clientOf(request))
      const { challengeId, phone, expiresIn, resendIn, channel } = sent
      const times = { expires_in: expiresIn, resend_in: resendIn }
      return ok({ challenge_id: challengeId, phone, ...times, channel })
    },
  )
}

const loginRoute: Routes = async (app, { accounts }) => {
  app.post(
    '/auth/login',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Sign in with the code',
        description: 'The first sign-in with a phone creates its account.',
        body: LoginBody,
        response: answers(SignIn),
      },
    },
    async (request) => {
      const { phone, otp, challenge_id } = request.body
      const signedIn = await accounts.login(phone, otp, clientOf(request), challenge_id)
      request.audit.userId = signedIn.user.id
      return ok(presentSignIn(signedIn))
    },
  )
}

const refreshRoute: Routes = async (app, { accounts }) => {
  app.post(
    '/auth/refresh',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Stay signed in',
        description: 'Using a refresh token a second time ends the session.',
        body: RefreshBody,
        response: answers(SignIn),
      },
    },
    async (request) => {
      const { refresh_token } = request.body
      const signedIn = await accounts.refresh(refresh_token, clientOf(request))
      request.audit.userId = signedIn.user.id
      return ok(presentSignIn(signedIn))
    },
  )
}

const logoutRoute: Routes = async (app, { accounts }) => {
  app.post(
    '/auth/logout',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Sign out',
        body: RefreshBody,
        response: answers(Done),
      },
    },
    async (request) => {
      await accounts.logout(request.body.refresh_token)
      return done
    },
  )
}

const signingKeysRoute: Routes = async (app, { accounts }) => {
  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        tags,
        summary: 'The public keys of the access tokens, as RFC 7517 has them',
        response: { 200: Type.Object({ keys: Type.Array(Jwk) }), default: Failed },
      },
    },
    async (_, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return await accounts.signingKeys.jwks()
    },
  )
}

export const authRoutes: Routes = async (app, options) => {
  for (const routes of [sendingRoute, loginRoute, refreshRoute, logoutRoute, signingKeysRoute]) {
    await routes(app, options)
  }
}

function presentSignIn({ user, accessToken, expiresIn, refreshToken }: SignedIn) {
  return {
    access_token: accessToken,
    token_type: 'Bearer' as const,
    expires_in: expiresIn,
    refresh_token: refreshToken,
    user: presentUser(user),
  }
}
