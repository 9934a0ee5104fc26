/** Linking by phone number: a code in the person's inbox, then their password if they have one. Bots link by token. */
import type {
  AccountIdentity,
  LinkAnswer,
  LinkAttempt,
  LinkStep,
} from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import type { Database } from '../../database/database.ts'
import { botWithToken } from '../../sandbox/bots/managed-bots.ts'
import { beginSession } from '../../sandbox/delivery/sessions.ts'
import type { Outbox, Services } from '../../sandbox/network/context.ts'
import { SERVICE_PERSON } from '../../sandbox/network/rows.ts'
import { phoneNumber } from '../../sandbox/people/people.ts'
import {
  advance,
  beginChallenge,
  type Challenge,
  CODE_LENGTH,
  countWrongAnswer,
  findChallenge,
  isExhausted,
  isPassword,
  loadChallenge,
  RESEND_AFTER_SECONDS,
  renewCode,
} from '../../sandbox/people/sign-in.ts'
import { refused } from '../kit/platform.ts'

interface Registered {
  readonly id: number
  readonly phone: string
  readonly username: string | null
  readonly first_name: string
  readonly last_name: string | null
  readonly password_hash: string | null
  readonly password_hint: string | null
  readonly banned: boolean
  readonly deactivated: boolean
}

const expired = refused('expired', 'the code has expired')
const tooMany = refused('too_many_attempts', 'too many wrong answers')

export const identityOf = (row: {
  readonly id: number
  readonly phone: string
  readonly username: string | null
  readonly first_name: string
  readonly last_name: string | null
}): AccountIdentity => ({
  native: String(row.id),
  firstName: row.first_name,
  phone: row.phone,
  ...(row.last_name !== null && { lastName: row.last_name }),
  ...(row.username !== null && { username: row.username }),
})

export class Linking {
  readonly #db: Database
  readonly #outbox: Outbox
  readonly #now: () => number

  constructor({ db, outbox, now }: Pick<Services, 'db' | 'outbox' | 'now'>) {
    this.#db = db
    this.#outbox = outbox
    this.#now = now
  }

  /** Finds the person by phone in the network of the user who links. */
  async start(
    network: number | undefined,
    method: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<LinkAttempt> {
    if (method === 'token') return this.#withToken(network, fields.token ?? '')
    if (method !== 'phone') throw failed('bad_request', 'unknown link method')
    const phone = phoneNumber(fields.phone)
    const [person] = await this.#people('user_id = $1 and phone = $2', network ?? null, phone)
    if (!person) {
      throw failed('bad_request', 'the phone number is not registered in the sandbox', {
        reason: 'phone_not_registered',
      })
    }
    if (person.banned) return this.#attempt(refused('account_banned', 'the account is banned'))
    if (person.deactivated) {
      return this.#attempt(refused('account_deleted', 'the account is deleted'))
    }
    const challenge = await beginChallenge(this.#db, person.id, this.#now())
    await this.#sendCode(challenge)
    return this.#attempt(this.#codeStep(challenge), challenge.id)
  }

  async #withToken(network: number | undefined, token: string): Promise<LinkAttempt> {
    const bot = await botWithToken(this.#db, network, token)
    if (bot === undefined) return this.#attempt(refused('bad_credentials', 'no bot has this token'))
    const [account] = await this.#people('id = $1', bot)
    return this.#attempt({
      kind: 'done',
      account: identityOf(account!),
      secrets: { token: await beginSession(this.#db, bot) },
    })
  }

  async resume(stored: Json): Promise<LinkAttempt> {
    const id = challengeOf(stored)
    const challenge = await findChallenge(this.#db, id)
    return this.#attempt(challenge ? await this.#stepOf(challenge) : expired, id)
  }

  #attempt(step: LinkStep, id?: string): LinkAttempt {
    return {
      step,
      answer: async (answer) => (id ? this.#answer(id, answer) : step),
      changed: async () => {
        throw failed('bad_request', 'this step waits for an answer')
      },
      close: async () => undefined,
    }
  }

  async #answer(id: string, answer: LinkAnswer): Promise<LinkStep> {
    const challenge = await loadChallenge(this.#db, id)
    if (answer.kind === 'resend') return this.#resend(challenge)
    const step = await this.#stepOf(challenge)
    if (step.kind !== answer.kind) return step
    const isRight =
      answer.kind === 'code'
        ? answer.code === challenge.code
        : await isPassword(answer.password, (await this.#person(challenge)).password_hash ?? '')
    if (isRight) return this.#goOn(challenge)
    return (await countWrongAnswer(this.#db, id)) ? { ...step, wrong: true } : tooMany
  }

  async #goOn(challenge: Challenge): Promise<LinkStep> {
    const person = await this.#person(challenge)
    const asksPassword = challenge.state === 'code' && person.password_hash !== null
    const state = asksPassword ? 'password' : 'done'
    if (asksPassword) {
      if (!(await advance(this.#db, challenge, state))) return expired
      return this.#stepOf({ ...challenge, state })
    }
    // In one, so that a code whose session could not be stored is still good.
    const token = await this.#db.transaction(async (tx) =>
      (await advance(tx, challenge, state)) ? beginSession(tx, person.id) : undefined,
    )
    if (token === undefined) return expired
    return { kind: 'done', account: identityOf(person), secrets: { token } }
  }

  async #resend(challenge: Challenge): Promise<LinkStep> {
    const { retryIn } = this.#times(challenge)
    if (retryIn > 0) throw failed('rate_limited', '', { retryAfterSeconds: retryIn })
    const renewed = await renewCode(this.#db, challenge.id, this.#now())
    await this.#sendCode(renewed)
    return this.#codeStep(renewed)
  }

  async #stepOf(challenge: Challenge): Promise<LinkStep> {
    if (isExhausted(challenge)) return tooMany
    if (challenge.state === 'done' || this.#times(challenge).expiresIn <= 0) return expired
    if (challenge.state === 'code') return this.#codeStep(challenge)
    const { password_hint: hint } = await this.#person(challenge)
    const stored = { challenge: challenge.id }
    return { kind: 'password', stored, ...(hint !== null && { hint }) }
  }

  #codeStep(challenge: Challenge): LinkStep {
    const { retryIn, expiresIn } = this.#times(challenge)
    return {
      kind: 'code',
      length: CODE_LENGTH,
      sentVia: "a message in the person's sandbox inbox",
      way: { code: 'sandbox_inbox' },
      resendAfterSeconds: retryIn,
      expiresInSeconds: expiresIn,
      stored: { challenge: challenge.id },
    }
  }

  #times({ sent_at, expires_at }: Challenge) {
    const seconds = (at: number) => Math.max(0, Math.ceil((at - this.#now()) / 1000))
    return {
      retryIn: seconds(sent_at.getTime() + RESEND_AFTER_SECONDS * 1000),
      expiresIn: seconds(expires_at.getTime()),
    }
  }

  async #sendCode({ person_id, code }: Challenge) {
    const text = `Your sign-in code is ${code}. Whoever has it can read your messages.`
    await this.#outbox.send({
      sender: SERVICE_PERSON,
      native: person_id,
      request: crypto.randomUUID(),
      content: { kind: 'text', text, entities: [] },
    })
  }

  async #person({ person_id }: Challenge): Promise<Registered> {
    const [person] = await this.#people('id = $1', person_id)
    return person!
  }

  #people(condition: string, ...values: unknown[]): Promise<Registered[]> {
    return this.#db.query<Registered>(`select * from sandbox_person where ${condition}`, values)
  }
}

function challengeOf(stored: Json): string {
  if (typeof stored === 'object' && stored !== null && 'challenge' in stored) {
    if (typeof stored.challenge === 'string') return stored.challenge
  }
  throw failed('bad_request', 'the stored link step is unreadable')
}
