/** Sharing an account with other users: its owner invites and ends, whoever is invited accepts, declines or leaves. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Accounts } from '../../accounts/accounts.ts'
import { findCredential, type RecordSource, readCredentials } from '../../credentials/records.ts'
import type { Shares } from '../../credentials/shares.ts'
import { ShareRecord } from '../../records/account.ts'
import { ReceivedShare } from '../../records/credential.ts'
import { maskPhone } from '../../security/redact.ts'
import { authenticate } from '../authenticate.ts'
import { answers, Done, done, ok, PageOf, PageQuery } from '../envelope.ts'
import { CredentialParams } from './credentials.ts'
import { type Authenticated, forUsers, Id, IdParams, userOf } from './owner.ts'
import { idBefore, pageOf } from './page.ts'

const { role: Role } = ShareRecord.properties
const ShareParams = Type.Object({
  ...CredentialParams.properties,
  share_id: Id,
})

const InviteBody = Type.Object(
  { phone: Type.String({ minLength: 1, maxLength: 40 }), role: Role },
  { additionalProperties: false },
)
const RevokeKeys = Type.Boolean({
  default: false,
  description: 'Also revokes the keys that are listed for this share',
})
const ChangeBody = Type.Object(
  { role: Role, revoke_keys: RevokeKeys },
  { additionalProperties: false },
)
const EndQuery = Type.Object({ revoke_keys: RevokeKeys }, { additionalProperties: false })
const Ended = Type.Object({
  revoked_api_key_ids: Type.Array(Type.Integer({ description: 'Of keys that were revoked' })),
})

/** What the staff sees of a user's shares is masked like any phone. */
interface ReadingOptions extends Authenticated {
  readonly source: RecordSource
  readonly shares: Shares
}

interface ShareRoutesOptions extends ReadingOptions {
  readonly accounts: Accounts
}

const tags = ['credentials']

const readingRoutes: FastifyPluginAsyncTypebox<ReadingOptions> = async (
  app,
  { source, shares, authenticate },
) => {
  forUsers(app, authenticate)

  app.get(
    '/platforms/credentials/:credential_id/shares',
    {
      schema: {
        tags,
        summary: 'With whom the account is shared, and who is invited',
        params: CredentialParams,
        querystring: PageQuery,
        response: answers(PageOf(ShareRecord)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const userId = userOf(request)
      const { credential_id: id } = await findCredential(
        source,
        userId,
        request.params.credential_id,
      )
      const page = { before: idBefore(before), limit: limit + 1 }
      const found = await shares.list(userId, id, page)
      return ok(pageOf(found, limit, ({ share_id }) => `${share_id}`))
    },
  )

  app.get(
    '/shares',
    {
      schema: {
        tags,
        summary: 'Accounts that others share with you, and invitations',
        querystring: PageQuery,
        response: answers(PageOf(ReceivedShare)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const page = { before: idBefore(before), limit: limit + 1 }
      const found = await shares.received(userOf(request), page)
      const shown = pageOf(found, limit, ({ share_id }) => `${share_id}`)
      return ok({ ...shown, items: await withAccounts(source, shown.items) })
    },
  )
}

type Received = Awaited<ReturnType<Shares['received']>>[number]

/** An invitation tells of the account only its network, since it may have gone to a wrong phone. */
async function withAccounts(
  source: RecordSource,
  received: readonly Received[],
): Promise<ReceivedShare[]> {
  const active = received.filter(({ state }) => state === 'active')
  const ids = active.map(({ credential_id }) => credential_id)
  const records = ids.length > 0 ? await readCredentials(source, ids) : []
  const byId = new Map(records.map((record) => [record.credential_id, record]))
  return received.map((one) => {
    const record = one.state === 'active' ? byId.get(one.credential_id) : undefined
    if (!record) return { ...one, credential: null }
    const { phone, ...names } = record.account
    const account = { ...names, ...(phone !== undefined && { phone: maskPhone(phone) }) }
    const shared = { role: one.role, owner: one.owner }
    return { ...one, credential: { ...record, account, shared } }
  })
}

interface ChangingOptions extends Pick<ShareRoutesOptions, 'shares'> {
  readonly onRequest: onRequestAsyncHookHandler
}

type Routes = FastifyPluginAsyncTypebox<ChangingOptions>

/** A token that could share would reach the account even after it was revoked. */
const security = [{ jwt: [] }]

const invitingRoute: Routes = async (app, { shares, onRequest }) => {
  app.post(
    '/platforms/credentials/:credential_id/shares',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Invites the user of a phone to the account',
        description:
          'The answer is the same whether or not the phone has a user. The invitation waits for 30 days.',
        security,
        params: CredentialParams,
        body: InviteBody,
        response: answers(ShareRecord),
      },
    },
    async (request) =>
      ok(await shares.invite(userOf(request), request.params.credential_id, request.body)),
  )
}

const changingRoutes: Routes = async (app, { shares, onRequest }) => {
  const path = '/platforms/credentials/:credential_id/shares/:share_id'
  const named = (userId: number, params: Static<typeof ShareParams>) => ({
    ownerId: userId,
    credentialId: params.credential_id,
    shareId: params.share_id,
  })

  app.patch(
    path,
    {
      onRequest,
      schema: {
        tags,
        summary: 'Changes what a share allows',
        security,
        params: ShareParams,
        body: ChangeBody,
        response: answers(ShareRecord),
      },
    },
    async (request) => {
      const { role, revoke_keys } = request.body
      return ok(await shares.change(named(userOf(request), request.params), role, revoke_keys))
    },
  )

  app.delete(
    path,
    {
      onRequest,
      schema: {
        tags,
        summary: 'Ends a share, or takes an invitation back',
        description: 'Streams of events that it allowed end within a second.',
        security,
        params: ShareParams,
        querystring: EndQuery,
        response: answers(Ended),
      },
    },
    async (request) => {
      const of = named(userOf(request), request.params)
      return ok({ revoked_api_key_ids: await shares.end(of, request.query.revoke_keys) })
    },
  )
}

const receivingRoutes: Routes = async (app, { shares, onRequest }) => {
  app.post(
    '/shares/:id/accept',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Accepts an invitation',
        security,
        params: IdParams,
        response: answers(Done),
      },
    },
    async (request) => {
      await shares.accept(userOf(request), request.params.id)
      return done
    },
  )

  app.delete(
    '/shares/:id',
    {
      onRequest,
      schema: {
        tags,
        summary: 'Declines an invitation, or leaves a shared account',
        security,
        params: IdParams,
        response: answers(Done),
      },
    },
    async (request) => {
      await shares.leave(userOf(request), request.params.id)
      return done
    },
  )
}

export const shareRoutes: FastifyPluginAsyncTypebox<ShareRoutesOptions> = async (
  app,
  { accounts, ...options },
) => {
  await app.register(readingRoutes, options)
  const onRequest = authenticate(accounts, { pat: false })
  for (const routes of [invitingRoute, changingRoutes, receivingRoutes]) {
    await app.register(routes, { shares: options.shares, onRequest })
  }
}
