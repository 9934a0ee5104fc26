/** The rights of users over their data: GET /user/export answers all that is stored, DELETE /user erases it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import type { Accounts } from '../../accounts/accounts.ts'
import type { Eraser } from '../../privacy/erase.ts'
import { authenticate } from '../authenticate.ts'
import { answers, fileOf, ok } from '../envelope.ts'

const Erased = Type.Object({
  erased: Type.Boolean({
    description:
      'False: a network was slow to sign an account out, or the database failed; the erasure goes on by itself',
  }),
})
const Rows = Type.Array(Type.Record(Type.String(), Type.Unknown()))
const Export = Type.Object(
  { exported_at: Type.String({ format: 'date-time' }), phone: Type.String(), accounts: Rows },
  {
    additionalProperties: Rows,
    description:
      'Beside the linked accounts a list of rows for each table that has any. Secrets are left out; files are listed under `media_blob` and not contained',
  },
)

/** Signing out of networks takes seconds; after this time the answer comes, and the erasure continues. */
const ERASE_MS = 30_000
/** The time limit of an export: a slow reader may have millions of rows. */
const EXPORT_MS = 3_600_000

interface PrivacyRoutesOptions {
  readonly accounts: Accounts
  readonly eraser: Pick<Eraser, 'erase'>
  exportUser(userId: number): AsyncIterable<string>
}

const tags = ['account']
const security = [{ jwt: [] }]

type Routes<Needed extends keyof PrivacyRoutesOptions> = FastifyPluginAsyncTypebox<
  Pick<PrivacyRoutesOptions, Needed> & { readonly onRequest: onRequestAsyncHookHandler }
>

const exportRoute: Routes<'exportUser'> = async (app, { onRequest, exportUser }) => {
  const exporting = new Set<number>()

  app.get(
    '/user/export',
    {
      onRequest,
      config: { answerWithin: EXPORT_MS },
      schema: {
        tags,
        summary: 'Everything that is stored of the user',
        security,
        response: answers(Export),
      },
    },
    async ({ user: { id } }, reply) => {
      if (exporting.has(id)) throw failed('rate_limited', '', { retryAfterSeconds: 10 })
      exporting.add(id)
      async function* pieces() {
        try {
          yield '{"ok":true,"result":'
          yield* exportUser(id)
          yield '}'
        } finally {
          exporting.delete(id)
        }
      }
      // The `finally` above does not run for a stream that was never read.
      const file = { name: 'chapar-export.json', type: 'application/json' }
      const stream = fileOf(reply, pieces(), file)
      stream.once('close', () => exporting.delete(id))
      return reply.send(stream as never)
    },
  )
}

const eraseRoute: Routes<'eraser'> = async (app, { onRequest, eraser }) => {
  app.delete(
    '/user',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Erase the account with everything that belongs to it',
        description:
          'Signs out everywhere, signs linked accounts out on their networks, ends keys and deletes every row and file. There is no way back.',
        security,
        response: answers(Erased),
      },
    },
    async (request) => {
      const { id } = request.user
      // The log line of this request must not name the erased user.
      Object.assign(request.audit, { userId: undefined, isAnonymous: true })
      const late = pause(ERASE_MS, false, { ref: false })
      const erased = await Promise.race([eraser.erase(id), late])
      return ok({ erased })
    },
  )
}

export const privacyRoutes: FastifyPluginAsyncTypebox<PrivacyRoutesOptions> = async (
  app,
  { accounts, eraser, exportUser },
) => {
  const onRequest = authenticate(accounts, { pat: false })
  await app.register(exportRoute, { onRequest, exportUser })
  await app.register(eraseRoute, { onRequest, eraser })
}
