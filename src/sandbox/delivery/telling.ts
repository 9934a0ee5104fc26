/** Queues what happened beside messages: changes of members, requests, reactions, votes. */
import type { Happening, Telling } from '../../../machines/model/happening.ts'
import type { Queryable } from '../../database/database.ts'
import { queueing, woken } from './queue.ts'

export type News = Exclude<Happening, Telling | { kind: 'deleted' }>
export type NewsKind = News['kind']

/** What the kind adds to what all news have; the chat is shown to each reader as they see it. */
export type Facts<Kind extends NewsKind = NewsKind> = Kind extends NewsKind
  ? Omit<
      Extract<News, { kind: Kind }>,
      'kind' | 'sourceKey' | 'direction' | 'at' | 'chat' | 'isSelf'
    >
  : never

export interface Event<Kind extends NewsKind> {
  readonly kind: Kind
  /** The chat's own number, not the one that people call it by. */
  readonly chat: number
  readonly actor: number
  readonly session?: number
  readonly facts: Facts<Kind>
}

const step = 'row_number() over (partition by p.id order by change.ord) as step'
const others = `p.sessions >
      case when p.id = change.actor_id and change.session_id is not null then 1 else 0 end`

/** The people of `$5`, and who administers the chat where `$6` says so. */
const audience = `
    select change.*, p.id as person_id, ${step}
    from change
    join sandbox_person p on ${others}
    where p.id = any($5::bigint[]) or $6 and exists (
      select from sandbox_member m
      where m.chat_id = change.chat_id and m.person_id = p.id and m.role in ('owner', 'admin'))`

const telling = (kind: NewsKind) => `
  with change as (
    select 1 as ord, $1::bigint as chat_id, $2::bigint as actor_id, $3::bigint as session_id,
      jsonb_build_object('chat_id', $1::bigint, 'sender_id', $2::bigint, 'facts', $4::jsonb) as detail
  ), ${queueing(kind, { recipients: audience })}
  select ${woken} from change`

export async function tell<Kind extends NewsKind>(
  { db, wake }: { readonly db: Queryable; readonly wake: (people: readonly number[]) => void },
  { kind, chat, actor, session, facts }: Event<Kind>,
  to: { readonly people?: readonly number[]; readonly administrators?: boolean },
): Promise<void> {
  const [row] = await db.query<{ woken: number[] }>(
    { name: `sandbox_tell_${kind}`, text: telling(kind) },
    [
      ...[chat, actor, session ?? null, JSON.stringify(facts)],
      ...[to.people ?? [], to.administrators ?? false],
    ],
  )
  wake(row?.woken ?? [])
}
