/** Where the networks that speak the bot API are, as the environment has it. */
import { type Static, Type } from 'typebox'

const Address = Type.Optional(
  Type.String({
    pattern: '^https?://[^?#@\\s]+$',
    description: 'must be an address such as https://api.example.org',
  }),
)

export const botApiVariables = {
  TELEGRAM_BOT_API_URL: Address,
  BALE_BOT_API_URL: Address,
}

const Variables = Type.Object(botApiVariables)

export interface BotApiAddress {
  readonly url: string
  /** An address that was chosen may be on this machine or its network. */
  readonly allowPrivate: boolean
}

export interface BotApiSettings {
  readonly telegram: BotApiAddress
  readonly bale: BotApiAddress
}

export const botApiFrom = (env: Static<typeof Variables>): BotApiSettings => ({
  telegram: addressOf(env.TELEGRAM_BOT_API_URL, 'https://api.telegram.org'),
  bale: addressOf(env.BALE_BOT_API_URL, 'https://tapi.bale.ai'),
})

const addressOf = (chosen: string | undefined, usual: string): BotApiAddress => ({
  url: (chosen ?? usual).replace(/\/+$/, ''),
  allowPrivate: chosen !== undefined,
})
