/** A sandbox network for each user: people, chats, files and sticker sets get an owner, and names are unique in it. */
import { Migration } from '@mikro-orm/migrations'

/** The person that sends the one-time codes is in every network and belongs to none. */
const SERVICE_PERSON = 777_000

const columns = ['person', 'chat', 'file', 'sticker_set'].map(
  (table) => `alter table sandbox_${table} add user_id bigint references app_user`,
)

/** A linked person goes to the user of the credential; an active credential and a newer one come first. */
const people = [
  `update sandbox_person p set user_id = c.user_id
   from (select distinct on (native_id) native_id, user_id from credential
     where platform = 'sandbox'
     order by native_id, deactivated_at is null desc, id desc) c
   where p.id::text = c.native_id and p.id <> ${SERVICE_PERSON}`,
  // A person that was never linked goes where the people of their chats went, step by step; the earliest user wins.
  `do $$ begin
     loop
       update sandbox_person p set user_id = near.user_id
       from (
         select m.person_id, min(known.user_id) as user_id
         from sandbox_member m
         join sandbox_person s on s.id = m.person_id and s.user_id is null
           and s.id <> ${SERVICE_PERSON}
         join (select k.chat_id, min(o.user_id) as user_id
           from sandbox_member k join sandbox_person o on o.id = k.person_id
           where o.user_id is not null group by k.chat_id) known on known.chat_id = m.chat_id
         group by m.person_id) near
       where p.id = near.person_id;
       exit when not found;
     end loop;
   end $$`,
  // Everybody else was made by hand and talked to nobody: the first user gets them.
  `update sandbox_person set user_id = (select min(id) from app_user)
   where user_id is null and id <> ${SERVICE_PERSON}`,
]

/** Several users have linked the same person: nobody can tell whose session is whose, so all of them end. */
const sessions = `
  with shared as (
    select native_id::bigint as id from credential
    where platform = 'sandbox' and deactivated_at is null
    group by native_id having count(distinct user_id) > 1
  ),
  ended as (
    update sandbox_session set ended = 'revoked'
    where ended is null and person_id in (select id from shared)
  )
  update sandbox_person set sessions = 0 where id in (select id from shared)`

/** Two people of different users: what they wrote to each other belongs in neither network. */
const torn = `select c.id from sandbox_chat c
  join sandbox_person low on low.id = c.low_id join sandbox_person high on high.id = c.high_id
  where low.user_id <> high.user_id`

const tornApart = [
  `delete from media_hold where holder in (
     select 'sandbox:' || sender_id || ':' || request_id from sandbox_message
     where chat_id in (${torn}))`,
  ...['member', 'typing', 'draft', 'pin', 'reaction', 'message'].map(
    (table) => `delete from sandbox_${table} where chat_id in (${torn})`,
  ),
  `delete from sandbox_chat where id in (${torn})`,
  `delete from sandbox_block b using sandbox_person p, sandbox_person o
   where p.id = b.person_id and o.id = b.blocked_id and p.user_id <> o.user_id`,
]

/** A group goes to its owner's user, or to the one with most members; people of other users are no longer in it. */
const chats = [
  `update sandbox_chat c set user_id = coalesce(
     (select p.user_id from sandbox_member m join sandbox_person p on p.id = m.person_id
      where m.chat_id = c.id and p.user_id is not null
      group by p.user_id order by bool_or(m.role = 'owner') desc, count(*) desc, p.user_id limit 1),
     (select min(id) from app_user))`,
  ...['member', 'typing', 'draft', 'join_request'].map(
    (table) => `delete from sandbox_${table} t using sandbox_chat c, sandbox_person p
      where c.id = t.chat_id and p.id = t.person_id and p.user_id <> c.user_id`,
  ),
]

/** A file goes to the user who sent it in, and to those in whose networks it is held. */
const files = [
  `alter table sandbox_file drop constraint sandbox_file_pkey`,
  `insert into sandbox_file (user_id, native, kind, media)
   select distinct on (u.user_id, f.native, f.kind) u.user_id, f.native, f.kind, f.media
   from sandbox_file f
   join (
     select blob, user_id from media_blob
     union
     select h.blob, p.user_id from media_hold h join sandbox_person p
       on p.id::text = substring(h.holder from '^(?:sandbox|person):([0-9]+)')
     union
     select h.blob, c.user_id from media_hold h join sandbox_chat c
       on c.id::text = substring(h.holder from '^chat:([0-9]+)$')
   ) u on u.blob = f.native
   where u.user_id is not null`,
  `delete from sandbox_file where user_id is null`,
  `alter table sandbox_file add primary key (user_id, native, kind)`,
]

/** A sticker set goes to whoever sent in its pictures. */
const stickers = [
  `update sandbox_sticker_set s set user_id = coalesce(
     (select user_id from media_blob where blob = s.stickers #>> '{0,file,native}'),
     (select min(id) from app_user))`,
  `delete from sandbox_sticker_set where user_id is null`,
  `alter table sandbox_sticker_set drop constraint sandbox_sticker_set_pkey`,
  `drop index sandbox_sticker_set_name`,
  `alter table sandbox_sticker_set alter user_id set not null`,
  `create unique index sandbox_sticker_set_name on sandbox_sticker_set (user_id, lower(name))`,
]

const indexes = [
  `alter table sandbox_person drop constraint sandbox_person_phone_key`,
  `create unique index sandbox_person_phone on sandbox_person (user_id, phone)`,
  `drop index sandbox_person_username`,
  `create unique index sandbox_person_username on sandbox_person (user_id, lower(username))`,
  `create index sandbox_person_network on sandbox_person (user_id, id)`,
  `drop index sandbox_chat_username`,
  `create unique index sandbox_chat_username on sandbox_chat (user_id, lower(username))`,
  `create index sandbox_chat_network on sandbox_chat (user_id, id)`,
  // Not valid: old rows of a service without a user belong to nobody, and nobody sees them.
  `alter table sandbox_person add constraint sandbox_person_owned
     check (user_id is not null or id = ${SERVICE_PERSON}) not valid`,
  `alter table sandbox_chat add constraint sandbox_chat_owned
     check (user_id is not null) not valid`,
]

export class SandboxNetworks extends Migration {
  override up(): void {
    const rest = [...people, sessions, ...tornApart, ...chats, ...files, ...stickers, ...indexes]
    for (const statement of [...columns, ...rest]) this.addSql(statement)
  }
}
