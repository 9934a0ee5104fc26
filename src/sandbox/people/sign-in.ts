/** Sign-in of a device: the one-time code with its wrong answers, and the password of the person. */
import { randomBytes, randomInt, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'

const derive = promisify<string, Buffer, number, Buffer>(scrypt)
const KEY_BYTES = 32
export const CODE_LENGTH = 5
const CODE_LIFETIME_SECONDS = 300
export const RESEND_AFTER_SECONDS = 30
const MOST_WRONG_ANSWERS = 5

export interface Challenge {
  readonly id: string
  readonly person_id: number
  /** Not hashed: the person's inbox shows it anyway. */
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

/** Undefined where it is forgotten since. */
export async function findChallenge(db: Queryable, id: string): Promise<Challenge | undefined> {
  const [row] = await db.query<Challenge>('select * from sandbox_challenge where id = $1', [id])
  return row
}

export async function loadChallenge(db: Queryable, id: string): Promise<Challenge> {
  const row = await findChallenge(db, id)
  if (!row) throw failed('not_found', '')
  return row
}

/** Wrong answers to the code before still count. */
export async function renewCode(db: Queryable, id: string, now: number): Promise<Challenge> {
  const [row] = await db.query<Challenge>(
    `update sandbox_challenge set code = $2, sent_at = $3, expires_at = $4
     where id = $1 and state = 'code' returning *`,
    [id, newCode(), new Date(now), expiry(now)],
  )
  if (!row) throw failed('bad_request', 'no code is asked for')
  return row
}

/** False when no more answers are allowed. */
export async function countWrongAnswer(db: Queryable, id: string): Promise<boolean> {
  const [row] = await db.query<{ wrong_answers: number }>(
    `update sandbox_challenge set wrong_answers = wrong_answers + 1 where id = $1
     returning wrong_answers`,
    [id],
  )
  return row !== undefined && row.wrong_answers < MOST_WRONG_ANSWERS
}

/** False when another answer came first: a code is good for one link. */
export async function advance(db: Queryable, from: Challenge, state: 'password' | 'done') {
  const rows = await db.query(
    `update sandbox_challenge set state = $3, code = '' where id = $1 and state = $2 returning id`,
    [from.id, from.state, state],
  )
  return rows.length > 0
}

export const isExhausted = ({ wrong_answers }: Challenge) => wrong_answers >= MOST_WRONG_ANSWERS

const expiry = (now: number) => new Date(now + CODE_LIFETIME_SECONDS * 1000)

const newCode = () => String(randomInt(10 ** CODE_LENGTH)).padStart(CODE_LENGTH, '0')

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, KEY_BYTES)
  return `${salt.toString('base64url')}.${key.toString('base64url')}`
}

export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [salt = '', key = ''] = stored.split('.')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), KEY_BYTES)
  return timingSafeEqual(derived, Buffer.from(key, 'base64url'))
}
