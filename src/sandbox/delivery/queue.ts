/** SQL that queues an event for the linked devices of people, within the statement that makes the change. */
import { messageJson } from '../network/rows.ts'

interface Queueing {
  /** Selects the rows `r`: a person, a `step` in their queue, and the columns of the change. */
  readonly recipients?: string
  readonly detail?: string
}

/**
 * Common table expressions over `change (ord, chat_id, actor_id, session_id, detail)`. They lock the counters in the
 * order of the people, so that two statements cannot wait for each other. A counter row gives out its numbers in the
 * order of the commits; a sequence does not.
 */
export const queueing = (
  kind: string,
  { recipients = membersOfChat, detail = 'r.detail' }: Queueing = {},
) => `
  recipient as (
    ${recipients}
  ),
  locked as (
    select id from sandbox_person where id in (select person_id from recipient)
    order by id for no key update
  ),
  counted as (
    update sandbox_person p set events = p.events + n.count
    from (select person_id, count(*) from recipient group by person_id) n
    join locked on locked.id = n.person_id
    where p.id = n.person_id
    returning p.id, p.events - n.count as base
  ),
  queued as (
    insert into sandbox_event (person_id, seq, kind, actor_id, caused_by, detail)
    select r.person_id, counted.base + r.step, '${kind}', r.actor_id, r.session_id, ${detail}
    from recipient r join counted on counted.id = r.person_id
    returning person_id
  )`

export const step = 'row_number() over (partition by p.id order by change.ord) as step'

/** Whether the person `p` has a device to be notified: the device that made the change has its answer. */
export const hasOtherDevice = `p.sessions >
      case when p.id = change.actor_id and change.session_id is not null then 1 else 0 end`

const ofMembers = `
    from change
    join sandbox_member m on m.chat_id = change.chat_id and m.role not in ('left', 'kicked')
    join sandbox_person p on p.id = m.person_id and ${hasOtherDevice}`

const membersOfChat = `select change.*, p.id as person_id, ${step} ${ofMembers}`

/** The same for a statement with one change, which has no two events of one person to number. */
export const queueingOne = (kind: string, detail: string) => `
  recipient as (
    select change.*, p.id as person_id ${ofMembers}
    order by p.id for no key update of p
  ),
  counted as (
    update sandbox_person p set events = p.events + 1
    from recipient where p.id = recipient.person_id
    returning p.id, p.events as seq, recipient.ord, recipient.actor_id, recipient.session_id
  ),
  queued as (
    insert into sandbox_event (person_id, seq, kind, actor_id, caused_by, detail)
    select id, seq, '${kind}', actor_id, session_id, ${detail} from counted
    returning person_id
  )`

/** Only the person `recipient_id` of the change. */
export const oneRecipient = `
    select change.*, p.id as person_id, ${step}
    from change join sandbox_person p on p.id = change.recipient_id and p.sessions > 0`

/** The people to wake. JSON, since pg reads an array of bigint as strings. */
export const woken = 'to_jsonb(array(select distinct person_id from queued)) as woken'

/** The place of each change in the queues: lists of its `ord`, a person, and the number. In one of the rows. */
export const queued = `case when ord = (select min(ord) from change) then (
    select jsonb_agg(jsonb_build_array(r.ord, r.person_id, counted.base + r.step) order by r.ord)
    from recipient r join counted on counted.id = r.person_id) end as queued`

/** The same after `queueingOne`. */
export const queuedOne = `(
    select jsonb_agg(jsonb_build_array(ord, id, seq)) from counted) as queued`

/** The `change` of the common table expression `message`. */
export const messageChange = (ord = '1', session = '$1::bigint', actor = 'message.sender_id') => `
  select ${ord} as ord, message.chat_id, ${actor} as actor_id, ${session} as session_id,
    ${messageJson('message')} as detail
  from message`
