/** Honours that accounts give to people and chats: verification, and an emoji status where the person allows it. */
import { badRequest, failed, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { readAccessOf } from '../chats/access.ts'
import { parseChatId } from '../delivery/mapping.ts'
import type { Call, NetworkContext } from '../network/context.ts'

const DESCRIPTION_LENGTH = 70
const done: OperationResult = { kind: 'done' }

/** One organization's verification at a time: another account cannot replace it. */
export async function verify(
  call: Call,
  operation: OperationOf<'verify' | 'unverify'>,
): Promise<OperationResult> {
  const { context, by } = call
  const native = parseChatId(operation.chat)
  const isPerson = native > 0
  if (!isPerson) await readAccessOf(context.db, by.person, native)
  const [row] = await context.db.query<{ verification: { by: number } | null }>(
    isPerson
      ? 'select verification from sandbox_person where id = $1 and user_id = $2'
      : 'select verification from sandbox_chat where native = $1 and user_id = $2',
    [native, context.network],
  )
  if (!row) throw notFound(isPerson ? 'user' : 'chat')
  if (row.verification && row.verification.by !== by.person)
    throw badRequest('BOT_VERIFIER_FORBIDDEN')
  await context.db.query(
    isPerson
      ? 'update sandbox_person set verification = $3 where id = $1 and user_id = $2'
      : 'update sandbox_chat set verification = $3 where native = $1 and user_id = $2',
    [native, context.network, verificationBy(by.person, operation)],
  )
  return done
}

function verificationBy(person: number, operation: OperationOf<'verify' | 'unverify'>) {
  if (operation.kind === 'unverify') return null
  const description = operation.description.trim().toWellFormed()
  if ([...description].length > DESCRIPTION_LENGTH) throw badRequest('DESCRIPTION_TOO_LONG')
  return JSON.stringify({ by: person, description })
}

export async function setEmojiStatus(
  { context: { db, network, now }, by }: Call,
  { person: named, customEmojiId, until }: OperationOf<'set_emoji_status'>,
): Promise<OperationResult> {
  const person = parseChatId(named)
  const [row] = await db.query<{ isManaged: boolean }>(
    `select $3 = any(emoji_managers) as "isManaged" from sandbox_person
     where id = $1 and user_id = $2`,
    [person, network, by.person],
  )
  if (!row) throw notFound('user')
  if (!row.isManaged) {
    throw failed('forbidden', "not enough rights to change the user's emoji status")
  }
  if (until !== undefined && until * 1000 <= now()) throw badRequest('EMOJI_STATUS_EXPIRED')
  const known =
    customEmojiId === undefined ||
    (
      await db.query(
        `select from sandbox_sticker_set, jsonb_array_elements(stickers) as s (sticker)
         where user_id = $1 and sticker ->> 'customEmojiId' = $2`,
        [network, customEmojiId],
      )
    ).length > 0
  if (!known) throw badRequest('DOCUMENT_INVALID')
  const status = customEmojiId === undefined ? null : JSON.stringify({ customEmojiId, until })
  await db.query('update sandbox_person set emoji_status = $2 where id = $1', [person, status])
  return done
}

/** Whether an account may set this person's emoji status. */
export async function allowEmojiStatus(
  { db }: Pick<NetworkContext, 'db'>,
  person: number,
  account: number,
  isAllowed: boolean,
): Promise<void> {
  await db.query(
    `update sandbox_person set emoji_managers = case when $3
       then array_append(array_remove(emoji_managers, $2), $2)
       else array_remove(emoji_managers, $2) end where id = $1`,
    [person, account, isAllowed],
  )
}
