/** /link-pages/{token}: what the owner of an account sees and answers of one link flow, and nothing else. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { failed, missingField } from '../../../machines/model/failure.ts'
import { networksOf } from '../../accounts/client.ts'
import type { LinkFlow, LinkFlows } from '../../links/flows.ts'
import type { LinkPages } from '../../links/pages.ts'
import { LinkRecord } from '../../records/link.ts'
import { Gcra } from '../../security/rate-limits.ts'
import { answers, ok } from '../envelope.ts'
import { linkRecord } from './link-record.ts'

const Params = Type.Object({ token: Type.String({ maxLength: 100 }) })

const AnswerBody = Type.Object(
  {
    otp: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { additionalProperties: false },
)

const PageRecord = Type.Omit(LinkRecord, ['session_id', 'credential'])

/** A page that waits looks every few seconds, and several people may share a network. */
const perNetwork = { perSecond: 2, burst: 60 }

interface LinkPageAnswersOptions {
  readonly links: LinkFlows
  readonly pages: LinkPages
  now(): number
}

type Routes = FastifyPluginAsyncTypebox<LinkPageAnswersOptions>

const tags = ['linking']
const bodyLimit = 4_096
const response = answers(PageRecord)

const showingRoute: Routes = async (app, options) => {
  app.get(
    '/link-pages/:token',
    { schema: { tags, summary: 'What a link page shows', params: Params, response } },
    async (request) => ok(recordOf(options, await flowOf(options, request, request.params.token))),
  )
}

const answeringRoutes: Routes = async (app, options) => {
  app.post(
    '/link-pages/:token/answer',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Gives the code or the password on a link page',
        params: Params,
        body: AnswerBody,
        response,
      },
    },
    async (request) => {
      const { otp, password } = request.body
      const flow = await flowOf(options, request, request.params.token)
      if (otp === undefined && password === undefined) throw missingField('otp')
      await flow.actor.ask({
        type: 'link.verify',
        ...(otp !== undefined ? { code: otp } : { password: password ?? '' }),
      })
      return ok(recordOf(options, flow))
    },
  )

  app.post(
    '/link-pages/:token/resend',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Sends a new code, asked for on a link page',
        params: Params,
        response,
      },
    },
    async (request) => {
      const flow = await flowOf(options, request, request.params.token)
      await flow.actor.ask({ type: 'link.resend', now: options.now() })
      return ok(recordOf(options, flow))
    },
  )
}

export const linkPageAnswerRoutes: FastifyPluginAsyncTypebox<LinkPageAnswersOptions> = async (
  app,
  options,
) => {
  const uses = new Gcra<string>(perNetwork)
  app.addHook('onRequest', async ({ ip }) => {
    const retryAfterSeconds = uses.take(networksOf(ip).narrow)
    if (retryAfterSeconds > 0) throw failed('rate_limited', '', { retryAfterSeconds })
  })
  for (const routes of [showingRoute, answeringRoutes]) {
    await app.register(routes, options)
  }
}

/** The audit names the user who started the flow: they see in their log what happened on its page. */
async function flowOf(
  { links, pages }: LinkPageAnswersOptions,
  { audit }: FastifyRequest,
  token: string,
): Promise<LinkFlow> {
  const { sessionId, userId } = await pages.find(token)
  audit.userId = userId
  return links.find(sessionId, userId)
}

function recordOf({ now }: LinkPageAnswersOptions, flow: LinkFlow) {
  const { session_id: _, credential: __, ...shown } = linkRecord(flow, now(), undefined)
  return shown
}
