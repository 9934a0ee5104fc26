/** Paid media: a message shows previews, and its files to its seller and to readers who have paid. */
import type { Content, Message } from '../../../machines/model/content.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { PaidItem, PaidMedia, PaidPreview } from '../../../machines/model/payment.ts'
import type { Queryable } from '../../database/database.ts'

export const isMedia = (item: PaidItem): item is Media => item.kind !== 'preview'

function previewOf({ width, height, durationSeconds }: Media): PaidPreview {
  return {
    kind: 'preview',
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...(durationSeconds !== undefined && { durationSeconds }),
  }
}

/** The files that a message has sold before. */
export async function soldFiles(db: Queryable, id: string): Promise<readonly Media[]> {
  const [row] = await db.query<{ readonly media: readonly Media[] }>(
    'select media from sandbox_paid_media where id = $1',
    [id],
  )
  return row?.media ?? []
}

/** The owner of a channel gets the Stars of its posts: channels have no Stars of their own here. */
const inserting = `
  insert into sandbox_paid_media (sender_id, seller_id, in_channel, stars, payload, media)
  select $1, coalesce(c.owner, $1), c.owner is not null, $3, $4, $5
  from (values (1)) as one left join lateral (
    select m.person_id as owner from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.role = 'owner'
    where c.native = $2 and c.kind = 'channel') c on true
  returning id::text as id`

/** Stores the files of a new message. Resolves with the previews that the message carries in their place. */
export async function storePaid(
  tx: Queryable,
  sender: number,
  native: number,
  { stars, payload, items }: PaidMedia,
): Promise<PaidMedia> {
  const files = items.filter(isMedia)
  const [row] = await tx.query<{ readonly id: string }>(inserting, [
    ...[sender, native, stars, payload ?? null, JSON.stringify(files)],
  ])
  return { id: row!.id, stars, items: files.map(previewOf) }
}

const opening = {
  name: 'sandbox_open_paid',
  text: `select p.id::text as id, p.media from sandbox_paid_media p
    where p.id = any($1::bigint[]) and ($2::bigint in (p.sender_id, p.seller_id) or exists (
      select from sandbox_payment b
      where b.paid_media = p.id and b.person_id = $2 and b.refunded_at is null))`,
}

const idsIn = ({ content, replyTo }: Message): readonly string[] =>
  [content, replyTo?.message?.content].flatMap((one) =>
    one?.kind === 'paid_media' ? (one.paid.id ?? []) : [],
  )

/** The messages with the files that this person sold or has paid for. */
export async function openPaid<Shown extends Message>(
  db: Queryable,
  person: number,
  messages: readonly Shown[],
): Promise<readonly Shown[]> {
  const ids = messages.flatMap(idsIn)
  if (ids.length === 0) return messages
  const rows = await db.query<{ readonly id: string; readonly media: readonly Media[] }>(opening, [
    ids,
    person,
  ])
  const open = new Map(rows.map(({ id, media }) => [id, media]))
  return messages.map((message) => opened(message, open))
}

function opened<Shown extends Message>(
  message: Shown,
  open: ReadonlyMap<string, readonly Media[]>,
): Shown {
  const { content, replyTo } = message
  const answered = replyTo?.message && { message: opened(replyTo.message, open) }
  return {
    ...message,
    ...(replyTo && { replyTo: { ...replyTo, ...answered } }),
    content: openedContent(content, open),
  }
}

function openedContent(content: Content, open: ReadonlyMap<string, readonly Media[]>): Content {
  if (content.kind !== 'paid_media') return content
  const items = open.get(content.paid.id ?? '')
  return items ? { ...content, paid: { ...content.paid, items } } : content
}
