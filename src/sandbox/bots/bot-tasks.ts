/** Tasks that people give to bots, the bots that they make, channels in profiles, and corrected passports. */
import { readBack } from '../../../machines/model/failure.ts'
import type { Person } from '../../../machines/model/person.ts'
import { assignJoinBot, joinRequestsOf, openRequestsOf } from '../chats/join-queries.ts'
import { setPersonalChat } from '../chats/reading.ts'
import { assertBotAsked } from '../messages/sharing.ts'
import type { NetworkContext } from '../network/context.ts'
import { botsMadeBy, createManagedBot, type NewBot, replaceOwnToken } from './managed-bots.ts'
import { correctPassport, passportErrorsOf } from './passport-errors.ts'

/** The key of the account's keyboard that asks for a bot. */
interface AskingKey {
  readonly request: number
  readonly prepared?: string
}

export class BotTasks {
  readonly #context: NetworkContext
  readonly #assertIn: (person: number) => Promise<void>

  /** `assertIn` rejects for a person of another network. */
  constructor(context: NetworkContext, assertIn: (person: number) => Promise<void>) {
    this.#context = context
    this.#assertIn = assertIn
  }

  /** Lets a bot answer those who ask to join a chat; with null the administrators do again. */
  async assignJoinBot(person: number, chat: number, bot: number | null): Promise<void> {
    await this.#assertIn(person)
    if (bot !== null) await this.#assertIn(bot)
    await assignJoinBot(this.#context, person, chat, bot)
  }

  async joinRequests(person: number): ReturnType<typeof joinRequestsOf> {
    await this.#assertIn(person)
    return joinRequestsOf(this.#context, person)
  }

  /** The people who ask to join a chat that this person runs. */
  async openRequests(person: number, chat: number): ReturnType<typeof openRequestsOf> {
    await this.#assertIn(person)
    return openRequestsOf(this.#context, person, chat)
  }

  /** Shows a public channel in the person's profile; null: none. */
  async setPersonalChat(person: number, chat: number | null): Promise<void> {
    await this.#assertIn(person)
    await setPersonalChat(this.#context, person, chat)
  }

  /** Makes a bot for the account that manages it. If a keyboard key asked for it, a message says so as well. */
  async createBot(person: number, bot: NewBot, key?: AskingKey): Promise<Person> {
    await Promise.all([this.#assertIn(person), this.#assertIn(bot.manager)])
    const { manager } = bot
    if (key) await assertBotAsked(this.#context, person, { to: manager, ...key })
    const made = await createManagedBot(this.#context, person, bot)
    if (!key) return made
    const { capacity, network, outbox } = this.#context
    const content = { kind: 'service', fact: 'managed_bot_created', bot: made } as const
    const said = { sender: person, native: manager, request: crypto.randomUUID(), content }
    await readBack(capacity.reserve(network, 1, () => outbox.send(said)))
    return made
  }

  async ownBots(person: number): ReturnType<typeof botsMadeBy> {
    await this.#assertIn(person)
    return botsMadeBy(this.#context, person)
  }

  /** The token of a bot that the person has made. */
  async replaceToken(person: number, bot: number): Promise<void> {
    await this.#assertIn(person)
    await replaceOwnToken(this.#context, person, bot)
  }

  async passportErrors(person: number): ReturnType<typeof passportErrorsOf> {
    await this.#assertIn(person)
    return passportErrorsOf(this.#context, person)
  }

  async correctPassport(person: number, bot: number): Promise<void> {
    await this.#assertIn(person)
    await correctPassport(this.#context, person, bot)
  }
}
