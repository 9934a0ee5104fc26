/** What the caller may do with an account: as its owner, or by a share of it. One table says what each route asks for. */
import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import type { Suspensions } from '../accounts/suspensions.ts'
import type { HeldShare, HeldShares, ShareRole } from '../credentials/held-shares.ts'
import type { SharedBy } from '../keys/changes.ts'

/** Somebody who reaches the account of another user by a share of it. */
export interface Sharing {
  /** Their own id as a user; the id of the request is then that of the owner. */
  readonly id: number
  readonly share: HeldShare
  mark(): Promise<{ readonly role: ShareRole; readonly owner: { readonly phone: string } }>
  /** Calls `over` soon after the share has ended; returns how to stop. */
  watch(over: () => void): () => void
}

/** Where a request names the account or the key that it is about. */
interface Place {
  readonly kind: 'account' | 'key'
  readonly part: 'params' | 'query' | 'body'
  readonly name: string
}

interface Rule {
  /** The least that a share has to allow. */
  readonly asks: ShareRole | 'owner'
  readonly places: readonly Place[]
}

const account: Place = { kind: 'account', part: 'params', name: 'credential_id' }
const key: Place = { kind: 'key', part: 'params', name: 'id' }
const inQuery: readonly Place[] = [
  { kind: 'account', part: 'query', name: 'credential_id' },
  { kind: 'key', part: 'query', name: 'api_key_id' },
]
const [accountInQuery, keyInQuery] = inQuery as [Place, Place]
const inBody: Place = { kind: 'account', part: 'body', name: 'credential_id' }

const rule = (asks: Rule['asks'], ...places: Place[]): Rule => ({ asks, places })
const ACCOUNT = '/platforms/credentials/:credential_id'
const KEY = '/api_keys/:id'

/** Every route about one account or one key, by verb and pattern. */
export const accessRules: Readonly<Record<string, Rule>> = {
  [`GET ${ACCOUNT}`]: rule('viewer', account),
  [`GET ${ACCOUNT}/transitions`]: rule('viewer', account),
  [`GET ${ACCOUNT}/events`]: rule('viewer', account),
  [`PATCH ${ACCOUNT}/settings`]: rule('developer', account),
  [`POST ${ACCOUNT}/test`]: rule('developer', account),
  [`POST ${ACCOUNT}/restart`]: rule('owner', account),
  [`DELETE ${ACCOUNT}`]: rule('owner', account),
  [`GET ${ACCOUNT}/shares`]: rule('owner', account),
  [`POST ${ACCOUNT}/shares`]: rule('owner', account),
  [`PATCH ${ACCOUNT}/shares/:share_id`]: rule('owner', account),
  [`DELETE ${ACCOUNT}/shares/:share_id`]: rule('owner', account),

  'GET /api_keys': rule('viewer', accountInQuery),
  'POST /api_keys': rule('developer', inBody),
  [`GET ${KEY}`]: rule('viewer', key),
  [`PATCH ${KEY}`]: rule('developer', key),
  [`DELETE ${KEY}`]: rule('developer', key),
  [`POST ${KEY}/rotate`]: rule('developer', key),
  [`GET ${KEY}/backlog`]: rule('viewer', key),
  [`GET ${KEY}/exchanges`]: rule('viewer', key),
  [`GET ${KEY}/requests/:request_id/exchange`]: rule('viewer', key),
  [`GET ${KEY}/requests/:request_id/updates`]: rule('viewer', key),
  [`PUT ${KEY}/requests/exchanges`]: rule('developer', key),
  [`POST ${KEY}/diagnosis`]: rule('developer', key),
  [`GET ${KEY}/diagnosis/:diagnosis_id`]: rule('developer', key),
  [`POST ${KEY}/diagnosis/:diagnosis_id/next`]: rule('developer', key),
  [`PUT ${KEY}/webhook`]: rule('developer', key),
  [`DELETE ${KEY}/webhook`]: rule('developer', key),
  [`POST ${KEY}/webhook/test`]: rule('developer', key),
  [`GET ${KEY}/webhook/secret`]: rule('developer', key),
  [`POST ${KEY}/webhook/secret`]: rule('developer', key),
  [`POST ${KEY}/webhook/replay`]: rule('developer', key),
  [`GET ${KEY}/webhook/exchanges`]: rule('viewer', key),
  [`PUT ${KEY}/webhook/exchanges`]: rule('developer', key),
  [`GET ${KEY}/webhook/resend`]: rule('viewer', key),
  [`POST ${KEY}/webhook/resend`]: rule('developer', key),
  [`DELETE ${KEY}/webhook/resend`]: rule('developer', key),

  'GET /user/usage': rule('viewer', accountInQuery, keyInQuery),
  'GET /user/logs/api-requests': rule('viewer', accountInQuery, keyInQuery),
  'GET /user/logs/webhook-deliveries': rule('viewer', keyInQuery),
}

/** A route whose path names an account or a key. */
const isOfOne = /\/:credential_id\b|^\/api_keys\/:/

type AdmitWorld = readonly [shares: HeldShares, suspensions: Pick<Suspensions, 'whyOf'>]

/** Call it before the first route is added, and after what notes changes: the author of a change is known first. */
export function admitShares(app: FastifyInstance, ...world: AdmitWorld): void {
  app.addHook('onRoute', (route) => {
    for (const verb of [route.method].flat()) {
      const found = accessRules[`${verb === 'HEAD' ? 'GET' : verb} ${route.url}`]
      if (found) route.preHandler = [admit(found, ...world), ...[route.preHandler ?? []].flat()]
      else if (isOfOne.test(route.url)) throw new Error(`${verb} ${route.url} has no access rule`)
    }
  })
}

/** What the schema of the route has let through: an id, or nothing. */
const idAt = ({ part, name }: Place, request: FastifyRequest): number | undefined =>
  Object(request[part])[name]

/** The share by which the caller reaches what the request names first. */
async function shareFor(
  shares: HeldShares,
  places: readonly Place[],
  request: FastifyRequest,
): Promise<HeldShare | undefined> {
  for (const place of places) {
    const id = idAt(place, request)
    if (id !== undefined) return shares.heldBy(request.user.id, place.kind, id)
  }
  return undefined
}

/**
 * The one place that lets somebody reach what belongs to another user. With a share that allows the route, the request goes on
 * as the owner's, about the account or the key that it names and nothing else; without one as the caller's own, and finds
 * nothing of others. One of the staff gains nothing by a share of the user they help.
 */
const admit =
  (
    { asks, places }: Rule,
    shares: HeldShares,
    suspensions: Pick<Suspensions, 'whyOf'>,
  ): preHandlerAsyncHookHandler =>
  async (request) => {
    const { user } = request
    if (!user || user.acting) return
    const share = await shareFor(shares, places, request)
    if (!share) return
    if (asks === 'owner' || (asks === 'developer' && share.role !== asks)) {
      throw failed('forbidden', `this share of the account allows less: ${share.role}`, {
        reason: 'share_role',
        params: { role: share.role, asks },
      })
    }
    // Nothing goes out for an owner who is suspended. Why is not for others.
    if (!['GET', 'HEAD'].includes(request.method) && suspensions.whyOf(share.ownerId)) {
      throw failed('forbidden', 'the owner of the account is suspended', {
        reason: 'owner_suspended',
      })
    }
    request.user = {
      ...user,
      id: share.ownerId,
      stands: async () => (await user.stands()) && (await shares.holds(user.id, share)),
      sharing: {
        id: user.id,
        share,
        mark: async () => ({ role: share.role, owner: await shares.ownerOf(share) }),
        watch: (over) => shares.watch(user.id, share, over),
      },
    }
  }

/** The mark of a record that is shared with the caller. */
export async function markOf({ user }: Pick<FastifyRequest, 'user'>) {
  return user.sharing ? { shared: await user.sharing.mark() } : {}
}

/** Whether the account of this request is somebody else's, who shares it with the caller. */
export const isShared = ({ user }: Pick<FastifyRequest, 'user'>): boolean =>
  user.sharing !== undefined

/** By whom a key of somebody else is made or changed. */
export function developerOf({ user }: Pick<FastifyRequest, 'user'>): SharedBy | undefined {
  return user.sharing && { userId: user.sharing.id, shareId: user.sharing.share.shareId }
}
