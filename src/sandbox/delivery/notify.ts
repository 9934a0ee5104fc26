/** Queues the events that are no messages: changes of members, requests to join, reactions, votes. */
import type { Happening, Telling } from '../../../machines/model/happening.ts'
import type { Queryable } from '../../database/database.ts'
import type { Wake } from '../network/context.ts'
import { hasOtherDevice, queueing, step, woken } from './queue.ts'

type News = Exclude<Happening, Telling | { kind: 'deleted' }>
type NewsKind = News['kind']

/** The fields of one kind of event, without those of every event and the chat, which each reader sees differently. */
export type NewsFields<Kind extends NewsKind = NewsKind> = Kind extends NewsKind
  ? Omit<
      Extract<News, { kind: Kind }>,
      'kind' | 'sourceKey' | 'direction' | 'at' | 'chat' | 'isSelf'
    >
  : never

interface Event<Kind extends NewsKind> {
  readonly kind: Kind
  /** The id of the chat's row, not its native id. */
  readonly chat: number
  readonly actor: number
  readonly session?: number
  readonly facts: NewsFields<Kind>
}

/** The people of `$5`, and with `$6` the administrators of the chat but the one of `$7`. */
const audience = `
    select change.*, p.id as person_id, ${step}
    from change
    join sandbox_person p on ${hasOtherDevice}
    where p.id = any($5::bigint[]) or $6 and exists (
      select from sandbox_member m
      where m.chat_id = change.chat_id and m.person_id = p.id and m.role in ('owner', 'admin')
        and m.person_id is distinct from $7::bigint)`

const statement = (kind: NewsKind) => `
  with change as (
    select 1 as ord, $1::bigint as chat_id, $2::bigint as actor_id, $3::bigint as session_id,
      jsonb_build_object('chat_id', $1::bigint, 'sender_id', $2::bigint, 'facts', $4::jsonb) as detail
  ), ${queueing(kind, { recipients: audience })}
  select ${woken} from change`

export async function notify<Kind extends NewsKind>(
  { db, wake }: { readonly db: Queryable; readonly wake: Wake },
  { kind, chat, actor, session, facts }: Event<Kind>,
  to: {
    readonly people?: readonly number[]
    readonly administrators?: boolean
    /** An administrator who is left out. */
    readonly except?: number | null
  },
): Promise<void> {
  const [row] = await db.query<{ woken: number[] }>(
    { name: `sandbox_tell_${kind}`, text: statement(kind) },
    [
      ...[chat, actor, session ?? null, JSON.stringify(facts)],
      ...[to.people ?? [], to.administrators ?? false, to.except ?? null],
    ],
  )
  wake(row?.woken ?? [])
}
