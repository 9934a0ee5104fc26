/** Calls of the staff on behalf of a user: which routes take them, and what their answers hide. */
import type { FastifyRequest } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import type { Role, Staff } from '../accounts/staff.ts'
import { maskAddresses, maskPhone, maskTexts } from '../security/redact.ts'

/** The header that names the user, by number. */
export const ON_BEHALF_OF = 'on-behalf-of'

/** One of the staff, who reads the records of another user. */
export interface Acting {
  /** Their own id as a user. */
  readonly id: number
  readonly role: Role
  /** Whether texts and phones are hidden. */
  readonly isMasked: boolean
}

/** Who makes a call, before anybody else's records are asked for. */
interface Caller {
  readonly id: number
  readonly via: 'jwt' | 'pat'
  readonly token?: { readonly scopes: readonly string[] }
  /** Whether the sign-in is still valid. */
  stands(): Promise<boolean>
}

/** Routes that change nothing of the user, by verb and pattern. Any other refuses such a call. */
export const routesOnBehalf: ReadonlySet<string> = new Set([
  'GET /alerts',
  'GET /alerts/:id/items',
  'GET /alerts/summary',
  'GET /api_keys',
  'GET /api_keys/:id',
  'GET /api_keys/:id/backlog',
  'GET /api_keys/:id/diagnosis/:diagnosis_id',
  'GET /api_keys/:id/exchanges',
  'GET /api_keys/:id/requests/:request_id/exchange',
  'GET /api_keys/:id/requests/:request_id/updates',
  'GET /audit',
  'GET /machines',
  'GET /machines/:name',
  'GET /platforms',
  'GET /platforms/credentials',
  'GET /platforms/credentials/:credential_id',
  'GET /platforms/credentials/actions',
  'GET /platforms/credentials/:credential_id/events',
  'GET /platforms/credentials/:credential_id/shares',
  'GET /platforms/credentials/:credential_id/transitions',
  'GET /platforms/credentials/events',
  'GET /platforms/credentials/groups',
  'GET /platforms/credentials/summary',
  'GET /platforms/links',
  'GET /user/logs/api-requests',
  'GET /user/logs/webhook-deliveries',
  'GET /user/usage',
  'POST /api_keys/:id/diagnosis',
  'POST /api_keys/:id/diagnosis/:diagnosis_id/next',
  'POST /platforms/credentials/:credential_id/test',
])

const routeOf = ({ method, routeOptions }: FastifyRequest) =>
  `${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`

/** The user in whose place `caller` reads. Throws where the caller, the route or the user is none for it. */
export async function onBehalf(
  staff: Staff,
  request: FastifyRequest,
  caller: Caller,
): Promise<Pick<Caller, 'id' | 'stands'> & { readonly acting: Acting }> {
  const isMeant = !caller.token || caller.token.scopes.includes('operate')
  const role = isMeant ? await staff.roleOf(caller.id) : undefined
  if (!role) throw failed('forbidden', 'only operators and support act on behalf of others')
  if (!routesOnBehalf.has(routeOf(request))) {
    throw failed('forbidden', 'only the user may do this', { reason: 'only_the_user' })
  }
  const named = request.headers[ON_BEHALF_OF]
  const id = typeof named === 'string' && /^[1-9]\d{0,14}$/.test(named) ? Number(named) : undefined
  if (id === undefined || !(await staff.knows(id))) throw failed('not_found', 'no such user')
  const isMasked = (await staff.unmaskedUntil(caller.id, id)) === undefined
  const acting = { id: caller.id, role, isMasked }
  const stands = async () =>
    (await caller.stands()) && (await staff.roleOf(caller.id)) === role && (await staff.knows(id))
  return { id, acting, stands }
}

/** Who is counted for what a request costs: the one who makes it, whoever owns what it is about. */
export const callerOf = ({ user }: Pick<FastifyRequest, 'user'>): number =>
  user.acting?.id ?? user.sharing?.id ?? user.id

/** What could find a part of a phone, or an address: a search tells whether it has these digits, in whatever script. */
const ofHidden = /[\p{N}+]|[^\s]@/u

/** Whether a search of this caller looks at names as they are shown to staff. */
export const isMaskedFor = ({
  user,
}: {
  readonly user?: Partial<FastifyRequest['user']>
}): boolean => user?.acting?.isMasked === true

/**
 * A message that is sent is for the user alone, and so is a search that tells what is masked. So does an order by names: its
 * cursor has one, and its places tell others.
 */
export function refuseForStaff({ user, body, query }: FastifyRequest): void {
  if ((body as { send_to?: unknown } | null | undefined)?.send_to !== undefined) {
    throw failed('forbidden', 'only the user may send a message', { reason: 'only_the_user' })
  }
  if (!user.acting?.isMasked) return
  const { text, search, sort } = query as { text?: unknown; search?: unknown; sort?: unknown }
  if (
    text !== undefined ||
    sort === 'name' ||
    (typeof search === 'string' && ofHidden.test(search.normalize('NFKD')))
  ) {
    throw failed('forbidden', 'texts and phones are masked', { reason: 'texts_masked' })
  }
}

const HIDDEN = '•••'

/** Whether the records of the service itself belong to what is read. On behalf of an operator nobody sees them. */
export const seesService = async (
  staff: Pick<Staff, 'isOperator'>,
  { user }: Pick<FastifyRequest, 'user'>,
): Promise<boolean> => !user.acting && (await staff.isOperator(user.id))

/** The answer as this caller may see it. Whom an account is shared with sees its texts, but not its phone. */
export function shownTo<Answer>(
  user: Partial<Pick<FastifyRequest['user'], 'acting' | 'sharing'>> | undefined,
  answer: Answer,
): Answer {
  if (user?.acting?.isMasked) return masked(answer, forStaff) as Answer
  return user?.sharing ? (masked(answer, withoutPhone) as Answer) : answer
}

/** A text that stands under no name has the name ''. */
type Mask = (name: string, value: string, isContent: boolean) => string

function masked(value: unknown, mask: Mask): unknown {
  if (Array.isArray(value)) return value.map((one) => masked(one, mask))
  if (typeof value === 'string') return mask('', value, false)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  // Contents of a call or of an attempt at a webhook; elsewhere a text is a sentence of the service.
  const isContent = 'is_cut' in value
  const ownMask = mask === forStaff ? maskOf(value) : mask
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      typeof inner === 'string' ? ownMask(name, inner, isContent) : masked(inner, mask),
    ]),
  )
}

const withoutPhone: Mask = (name, value) => (name === 'phone' ? maskPhone(value) : value)

const forStaff: Mask = (name, value, isContent) => {
  if (name === 'phone') return maskPhone(value)
  if (name === 'excerpt' || name === 'chat_name') return HIDDEN
  if (isContent && (name === 'text' || name === 'body')) return maskTexts(value, HIDDEN)
  return maskAddresses(value)
}

/** The name of an account without one is the first part of its address. */
function maskOf({ username }: { readonly username?: unknown }): Mask {
  const local = typeof username === 'string' ? /^([^@]+)@/.exec(username)?.[1] : undefined
  return (name, value, isContent) => (value === local ? HIDDEN : forStaff(name, value, isContent))
}
