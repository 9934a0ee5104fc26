/** The scores of games: a bot sets them and lists them, for each chat on its own. */

import { badRequest, notFound } from '../../../machines/model/failure.ts'
import type { Score } from '../../../machines/model/game.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Text } from '../../../machines/model/text.ts'
import type { Queryable } from '../../database/database.ts'
import { type FoundMessage, findMessage, viewOf, whyMissing } from '../chats/find-message.ts'
import {
  messageOf,
  parseChatId,
  parseInlineId,
  parseMessageId,
  personOf,
} from '../delivery/mapping.ts'
import { inlineMessage, revise } from '../messages/edit.ts'
import type { Call } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

/** How many scores a message shows. */
const SHOWN = 10
/** As in the reference: so many on each side of the person, and so many of the best. */
const NEIGHBOURS = 2
const BEST = 3

type Scoring = OperationOf<'set_score' | 'scores'>
type GameMessage = FoundMessage & { readonly content: { readonly kind: 'game' } }

/** Rejects where the message carries no game of this bot. */
async function gameMessage(
  db: Queryable,
  { by }: Pick<Call, 'by'>,
  operation: Scoring,
): Promise<GameMessage> {
  if ('inline' in operation) {
    const key = parseInlineId(operation.inline)
    return withGame(await inlineMessage(db, by.person, key))
  }
  const ref = refOf(operation)
  const found = await findMessage(db, by.person, ref)
  if (!found) {
    throw await whyMissing(db, by.person, ref.chat, badRequest('MESSAGE_ID_INVALID'))
  }
  if (found.sender !== by.person || found.isForwarded) {
    throw badRequest("message can't be edited")
  }
  return withGame(found)
}

const refOf = ({ chat, message }: { readonly chat: string; readonly message: string }) => ({
  chat: parseChatId(chat),
  message: parseMessageId(message, 'edit'),
})

function withGame(found: FoundMessage | undefined): GameMessage {
  if (found?.content.kind !== 'game') throw badRequest('MESSAGE_ID_INVALID')
  return found as GameMessage
}

/** A score and the message that shows it are changed together. */
export async function setScore(
  call: Call,
  operation: OperationOf<'set_score'>,
): Promise<OperationResult> {
  const { context, by } = call
  const { now } = context
  const woken: number[] = []
  const result = await context.db.transaction(async (tx): Promise<OperationResult> => {
    const found = await gameMessage(tx, call, operation)
    await store(tx, call, found, operation)
    const text = scoreboard((await allScores(tx, by.person, found)).slice(0, SHOWN))
    const isSame = found.content.game.text?.text === text.text
    if (operation.isShown && !isSame) {
      const wake = (people: readonly number[]) => woken.push(...people)
      const find = () => gameMessage(tx, call, operation)
      const message = await revise({ db: tx, wake, now }, by, find, async (target) => ({
        content: { kind: 'game', game: { ...(target as GameMessage).content.game, text } },
        ...(target.buttons && { buttons: target.buttons }),
      }))
      return 'inline' in operation ? { kind: 'done' } : { kind: 'message', message }
    }
    if ('inline' in operation) return { kind: 'done' }
    const view = await viewOf(tx, by.person, refOf(operation))
    if (!view) throw badRequest('MESSAGE_ID_INVALID')
    return { kind: 'message', message: messageOf(view) }
  })
  context.wake(woken)
  return result
}

async function store(
  tx: Queryable,
  { context: { network }, by }: Call,
  { chat, content }: GameMessage,
  { person, score, mayFall }: OperationOf<'set_score'>,
): Promise<void> {
  const [player] = await tx.query<{ id: number }>(
    'select id from sandbox_person where id = $1 and user_id = $2 and not deactivated',
    [parseChatId(person), network],
  )
  if (!player) throw notFound('user')
  const rows = await tx.query(
    `insert into sandbox_game_score as s (chat_id, bot_id, game, person_id, score)
     values ($1, $2, $3, $4, $5)
     on conflict (chat_id, bot_id, game, person_id) do update set score = $5, at = now()
     where $5 > s.score or $6 and $5 <> s.score
     returning score`,
    [chat, by.person, content.game.name, player.id, score, mayFall],
  )
  if (rows.length === 0) throw badRequest('BOT_SCORE_NOT_MODIFIED')
}

/** The best first; equal scores in the order in which they were reached. */
async function allScores(
  db: Queryable,
  bot: number,
  { chat, content }: GameMessage,
): Promise<Score[]> {
  const rows = await db.query<{ person: PersonRow; score: number; place: number }>(
    `select ${personJson('p')} as person, s.score,
       row_number() over (order by s.score desc, s.at, s.person_id)::int as place
     from sandbox_game_score s join sandbox_person p on p.id = s.person_id
     where s.chat_id = $1 and s.bot_id = $2 and s.game = $3
     order by place`,
    [chat, bot, content.game.name],
  )
  return rows.map(({ person, ...score }) => ({ ...score, person: personOf(person) }))
}

function scoreboard(scores: readonly Score[]): Text {
  const lines = scores.map(({ place, person, score }) => `${place}. ${person.firstName} – ${score}`)
  return { text: lines.join('\n'), entities: [] }
}

export async function listScores(
  call: Call,
  operation: OperationOf<'scores'>,
): Promise<OperationResult> {
  const { db } = call.context
  const scores = await allScores(db, call.by.person, await gameMessage(db, call, operation))
  const own = scores.findIndex(({ person }) => person.native === operation.person)
  const isNear = (index: number) => own >= 0 && Math.abs(index - own) <= NEIGHBOURS
  return {
    kind: 'scores',
    scores: scores.filter((_, index) => index < BEST || isNear(index)),
  }
}
