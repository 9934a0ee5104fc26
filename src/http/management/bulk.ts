/** Actions on many accounts: begun, followed, stopped, and the outcome for each account. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { failed, invalidField, missingField } from '../../../machines/model/failure.ts'
import {
  BULK_KINDS,
  type BulkAction,
  type BulkFilter,
  type BulkItem,
  type BulkKind,
  beginAction,
  failedAccounts,
  findAction,
  type ItemState,
  listActions,
  listItems,
  type OneAction,
  setRunning,
} from '../../bulk/actions.ts'
import { csvLine } from '../../bulk/csv.ts'
import type { MadePage, RelinkPages } from '../../bulk/relinks.ts'
import type { BulkChange } from '../../bulk/runner.ts'
import { changeTags, MOST_TAGS } from '../../bulk/tags.ts'
import { matchingIds, ownIds, recordsById } from '../../credentials/list.ts'
import type { RecordSource } from '../../credentials/records.ts'
import {
  BulkActionRecord,
  BulkItemRecord,
  type CredentialRecord,
  RelinkPageRecord,
} from '../../records/credential.ts'
import { answers, fileOf, ok, PageOf, PageQuery } from '../envelope.ts'
import { TAG } from '../validation.ts'
import { csvAnswers, EXPORT_MS, FilterQuery, filterOf, wantedBy } from './credential-list.ts'
import { type PanelAddresses, pageUrl } from './link-pages.ts'
import { type Authenticated, forUsers, IdParams, piecesInTurn, userOf } from './owner.ts'
import { idBefore, pageOf } from './page.ts'

const MOST_ACCOUNTS = 100_000
const MOST_NAMED = 10_000
const EXPORT_PAGE = 500

const chosen = {
  credential_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      minItems: 1,
      maxItems: MOST_NAMED,
      description: 'These accounts; those that are gone are left out',
    }),
  ),
  filter: Type.Optional(
    Type.Object(FilterQuery.properties, {
      additionalProperties: false,
      description: 'All accounts that the list shows for these parameters',
    }),
  ),
}

const TagList = Type.Array(Type.String({ pattern: TAG }), { maxItems: MOST_TAGS, default: [] })
const TagBody = Type.Object(
  { ...chosen, add: TagList, remove: TagList },
  { additionalProperties: false },
)

const ActionBody = Type.Object(
  {
    kind: Type.String({ enum: [...BULK_KINDS] }),
    ...chosen,
    failed_of: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The accounts for which this action failed' }),
    ),
    at_most: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Refused with 409 if these are more accounts' }),
    ),
  },
  { additionalProperties: false },
)

const TagResult = Type.Object({
  total: Type.Integer({ description: 'How many accounts these are' }),
  changed: Type.Integer(),
})

const ItemsQuery = Type.Object({
  ...PageQuery.properties,
  state: Type.Optional(Type.String({ enum: ['waiting', 'done', 'failed'] })),
})

interface BulkRoutesOptions extends Authenticated, PanelAddresses {
  readonly source: RecordSource
  readonly relinks: RelinkPages
  /** There is something to do. */
  readonly changed: (change: BulkChange) => void
}

const tags = ['credentials']
const params = IdParams

type Routes = FastifyPluginAsyncTypebox<BulkRoutesOptions>

const beginningRoute: Routes = async (app, { source, changed }) => {
  app.post(
    '/platforms/credentials/actions',
    {
      schema: {
        tags,
        summary: 'Restarts or deletes many accounts, or makes pages that link them again',
        description:
          'Give one of `credential_ids`, `filter` and `failed_of`. Which accounts they are is fixed now; the work goes on after the answer. `relink` makes a page for each account of which all that a link needs is known, but for secrets that its reader gives there, such as a password or a token: it works for 72 hours, and its reader begins the link.',
        body: ActionBody,
        response: answers(BulkActionRecord),
      },
    },
    async (request) => {
      const userId = userOf(request)
      const { kind, filter, at_most } = request.body
      const credentialIds = await selected(source, userId, request.body)
      if (credentialIds.length === 0) throw failed('not_found', 'there are no such accounts')
      const most = Math.min(at_most ?? MOST_ACCOUNTS, MOST_ACCOUNTS)
      if (credentialIds.length > most) {
        const count = credentialIds.length
        const why = { reason: 'accounts_more', params: { count } } as const
        throw failed('conflict', `these are ${count} accounts`, why)
      }
      const action = await beginAction(source.db, {
        userId,
        kind: kind as BulkKind,
        filter: filter ? keptFilter(filter) : null,
        credentialIds,
      })
      changed({ actionId: action.id, isRunning: true })
      return ok(presentAction(action))
    },
  )
}

type Choice = Pick<Static<typeof ActionBody>, 'credential_ids' | 'filter' | 'failed_of'>

async function selected(
  source: RecordSource,
  userId: number,
  { credential_ids: ids, filter, failed_of: failedOf }: Choice,
): Promise<number[]> {
  if (ids && filter) throw invalidField('filter', 'must not stand beside "credential_ids"')
  if (failedOf !== undefined) {
    if (ids || filter) throw invalidField('failed_of', 'must stand alone')
    return ownIds(source, userId, await failedAccounts(source.db, { userId, id: failedOf }))
  }
  if (ids) return ownIds(source, userId, ids)
  if (filter) return matchingIds(source, userId, await wantedBy(source, userId, filter))
  throw missingField('credential_ids')
}

/** The words of a search may name a person. */
function keptFilter(given: Static<typeof ActionBody>['filter']): BulkFilter {
  const { search, ...kept } = filterOf(given ?? {})
  return { ...kept, ...(search !== undefined && { search: true }) }
}

const readingRoutes: Routes = async (app, { source: { db } }) => {
  app.get(
    '/platforms/credentials/actions',
    {
      schema: {
        tags,
        summary: 'Actions on many accounts, newest first',
        querystring: PageQuery,
        response: answers(PageOf(BulkActionRecord)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const asked = { limit: limit + 1, before: idBefore(before) }
      const page = pageOf(await listActions(db, userOf(request), asked), limit, ({ id }) => `${id}`)
      return ok({ ...page, items: page.items.map(presentAction) })
    },
  )

  app.get(
    '/platforms/credentials/actions/:id',
    {
      schema: {
        tags,
        summary: 'How far an action on many accounts is',
        params,
        response: answers(BulkActionRecord),
      },
    },
    async (request) => {
      const action = { userId: userOf(request), id: request.params.id }
      return ok(presentAction(await findAction(db, action)))
    },
  )
}

const itemsRoute: Routes = async (app, { source }) => {
  app.get(
    '/platforms/credentials/actions/:id/items',
    {
      schema: {
        tags,
        summary: 'The accounts of an action with the outcome of each, the last first',
        params,
        querystring: ItemsQuery,
        response: answers(PageOf(BulkItemRecord)),
      },
    },
    async (request) => {
      const { limit, before, state } = request.query
      const action = { userId: userOf(request), id: request.params.id }
      const items = await listItems(source.db, action, {
        limit: limit + 1,
        before: idBefore(before),
        state: state as ItemState | undefined,
      })
      const page = pageOf(items, limit, ({ position }) => `${position}`)
      const ids = page.items.map(({ credential_id }) => credential_id)
      const records = await recordsById(source, action.userId, ids)
      return ok({ ...page, items: page.items.map((item) => presentItem(item, records)) })
    },
  )
}

const taggingRoute: Routes = async (app, { source }) => {
  app.post(
    '/platforms/credentials/tags',
    {
      schema: {
        tags,
        summary: 'Puts tags on many accounts, or takes them off',
        description: `Give one of \`credential_ids\` and \`filter\`. An account that would have more than ${MOST_TAGS} is left as it is.`,
        body: TagBody,
        response: answers(TagResult),
      },
    },
    async (request) => {
      const userId = userOf(request)
      const { add, remove } = request.body
      if (add.length + remove.length === 0) throw missingField('add')
      const ids = await selected(source, userId, request.body)
      const changed = await changeTags(source.db, userId, ids, { add, remove })
      return ok({ total: ids.length, changed })
    },
  )
}

/** Its pages that link accounts again, read page by page. */
const relinkRoutes: Routes = async (app, { source, relinks, ...panel }) => {
  const readPages = async (action: OneAction, host: string, asked: Asked) => {
    const made = await relinks.list(action, asked)
    const ids = made.map(({ credentialId }) => credentialId)
    const records = await recordsById(source, action.userId, ids)
    return made.map((page) => ({
      page,
      record: records.get(page.credentialId),
      url: page.token === undefined ? null : pageUrl(panel, host, page.token),
    }))
  }

  app.get(
    '/platforms/credentials/actions/:id/pages',
    {
      schema: {
        tags,
        summary: 'The pages of an action that links accounts again, the last first',
        params,
        querystring: PageQuery,
        response: answers(PageOf(RelinkPageRecord)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const action = { userId: userOf(request), id: request.params.id }
      await findAction(source.db, action)
      const asked = { limit: limit + 1, before: idBefore(before) }
      const found = await readPages(action, request.host, asked)
      const page = pageOf(found, limit, ({ page: { position } }) => `${position}`)
      return ok({ ...page, items: page.items.map(presentPage) })
    },
  )

  app.get(
    '/platforms/credentials/actions/:id/pages/export',
    {
      config: { answerWithin: EXPORT_MS },
      schema: {
        tags,
        summary: 'The pages of an action that links accounts again as CSV',
        params,
        response: csvAnswers,
      },
    },
    async (request, reply) => {
      const action = { userId: userOf(request), id: request.params.id }
      await findAction(source.db, action)
      const made = pageLines((asked) => readPages(action, request.host, asked))
      const lines = piecesInTurn(request, reply, made)
      const file = fileOf(reply, lines, { name: 'link-pages.csv', type: 'text/csv' })
      return reply.send(file as never)
    },
  )
}

interface Asked {
  readonly before: number | undefined
  readonly limit: number
}

interface ShownPage {
  readonly page: MadePage
  readonly record: CredentialRecord | undefined
  readonly url: string | null
}

async function* pageLines(read: (asked: Asked) => Promise<ShownPage[]>): AsyncGenerator<string> {
  const columns = 'credential_id platform first_name last_name username phone state url expires_at'
  yield csvLine(columns.split(' '))
  for (let before: number | undefined; ; ) {
    const pages = await read({ before, limit: EXPORT_PAGE })
    yield pages.map((shown) => csvLine(cellsOf(shown))).join('')
    before = pages.at(-1)?.page.position
    if (before === undefined || pages.length < EXPORT_PAGE) return
  }
}

const cellsOf = ({ page, record, url }: ShownPage): string[] => {
  const { first_name, last_name = '', username = '', phone = '' } = record?.account ?? {}
  const names = [record?.platform ?? '', first_name ?? '', last_name, username, phone]
  return [`${page.credentialId}`, ...names, page.state, url ?? '', page.expiresAt.toISOString()]
}

const presentPage = ({ page, record, url }: ShownPage): Static<typeof RelinkPageRecord> => ({
  credential_id: page.credentialId,
  account: record?.account ?? null,
  state: page.state,
  url,
  expires_at: page.expiresAt.toISOString(),
})

const haltingRoutes: Routes = async (app, { source: { db }, changed }) => {
  const change = (verb: 'stop' | 'resume', summary: string) =>
    app.post(
      `/platforms/credentials/actions/:id/${verb}`,
      { schema: { tags, summary, params, response: answers(BulkActionRecord) } },
      async (request) => {
        const isRunning = verb === 'resume'
        const owned = { userId: userOf(request), id: request.params.id }
        const action = await setRunning(db, owned, isRunning)
        changed({ actionId: action.id, isRunning })
        return ok(presentAction(action))
      },
    )
  change('stop', 'Stops an action on many accounts; those under way are finished')
  change('resume', 'Goes on with an action that was stopped')
}

export const bulkRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'link')
  for (const routes of [
    beginningRoute,
    readingRoutes,
    itemsRoute,
    taggingRoute,
    relinkRoutes,
    haltingRoutes,
  ]) {
    await routes(app, options)
  }
}

const presentAction = ({
  id,
  filter,
  created_at,
  ended_at,
  ...rest
}: BulkAction): Static<typeof BulkActionRecord> => ({
  action_id: id,
  ...rest,
  filter: filter as Static<typeof BulkActionRecord>['filter'],
  created_at: created_at.toISOString(),
  ended_at: ended_at?.toISOString() ?? null,
})

const presentItem = (
  { credential_id, state, code, ended_at }: BulkItem,
  records: ReadonlyMap<number, CredentialRecord>,
): Static<typeof BulkItemRecord> => ({
  credential_id,
  account: records.get(credential_id)?.account ?? null,
  state,
  code,
  ended_at: ended_at?.toISOString() ?? null,
})
