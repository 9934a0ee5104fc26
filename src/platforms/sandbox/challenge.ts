/** A link under way: its one-time code, its wrong answers, and how far it came. */
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import { newCode } from '../../sandbox/people/secrets.ts'

export const CODE_LIFETIME_SECONDS = 300
export const RESEND_AFTER_SECONDS = 30
const MOST_WRONG_ANSWERS = 5

export interface Challenge {
  readonly id: string
  readonly person_id: number
  /** In the clear: whoever may see it, sees it in the person's inbox anyway. */
  readonly code: string
  readonly sent_at: Date
  readonly expires_at: Date
  readonly wrong_answers: number
  readonly state: 'code' | 'password' | 'done'
}

export async function beginChallenge(db: Queryable, person: number, now: number) {
  const [row] = await db.query<Challenge>(
    `insert into sandbox_challenge (id, person_id, code, sent_at, expires_at)
     values ($1, $2, $3, $4, $5) returning *`,
    [crypto.randomUUID(), person, newCode(), new Date(now), expiry(now)],
  )
  return row!
}

export async function loadChallenge(db: Queryable, id: string): Promise<Challenge> {
  const [row] = await db.query<Challenge>('select * from sandbox_challenge where id = $1', [id])
  if (!row) throw failed('not_found', '')
  return row
}

/** Guesses go on counting over new codes. */
export async function renewCode(db: Queryable, id: string, now: number): Promise<Challenge> {
  const [row] = await db.query<Challenge>(
    `update sandbox_challenge set code = $2, sent_at = $3, expires_at = $4
     where id = $1 and state = 'code' returning *`,
    [id, newCode(), new Date(now), expiry(now)],
  )
  if (!row) throw failed('bad_request', 'no code is asked for')
  return row
}

/** False when that was one wrong answer too many. */
export async function countWrongAnswer(db: Queryable, id: string): Promise<boolean> {
  const [row] = await db.query<{ wrong_answers: number }>(
    `update sandbox_challenge set wrong_answers = wrong_answers + 1 where id = $1
     returning wrong_answers`,
    [id],
  )
  return row !== undefined && row.wrong_answers < MOST_WRONG_ANSWERS
}

/** False when another answer was there first: a code is good for one link. */
export async function advance(db: Queryable, from: Challenge, state: 'password' | 'done') {
  const rows = await db.query(
    `update sandbox_challenge set state = $3, code = '' where id = $1 and state = $2 returning id`,
    [from.id, from.state, state],
  )
  return rows.length > 0
}

export const isExhausted = ({ wrong_answers }: Challenge) => wrong_answers >= MOST_WRONG_ANSWERS

const expiry = (now: number) => new Date(now + CODE_LIFETIME_SECONDS * 1000)
