/** Telegram on loopback: its address, and accounts on it that are linked as the service links them. */
import { telegramPlatform } from '../../src/platforms/telegram/platform.ts'
import { quietLogger } from '../../test/support/logger.ts'
import { trust } from '../../test/support/telegram-dc/crypto.ts'
import type { Child } from './child.ts'
import type { SeedAccount } from './seed.ts'
import type { Stage } from './stage.ts'

export const APPLICATION = { id: 54_321, hash: 'hash of the application' }

export interface TelegramAddress {
  readonly entrance: { readonly id: number; readonly ipAddress: string; readonly port: number }
  /** The public key of its servers. */
  readonly pem: string
}

export interface Person {
  readonly id: number
  readonly phone: string
}

/** Somebody's device: its key is in base64. */
export interface Device {
  readonly id: number
  readonly key: string
}

/** As the session of a linked account is stored. */
export const accountOf = ({ id, key }: Device, { entrance }: TelegramAddress): SeedAccount => ({
  native: `${id}`,
  firstName: `Person ${id}`,
  secrets: { keys: { [entrance.id]: key } },
  owner: 'bench',
})

const LINKING_MS = 60_000

/** Its session is what the service would have stored. */
export async function linkTelegram(
  { db }: Pick<Stage, 'db'>,
  network: Child,
  { entrance, pem }: TelegramAddress,
  { id, phone }: Person,
): Promise<SeedAccount> {
  await trust(pem)
  const media = { open: () => Promise.reject(new Error('there are no files here')) }
  const parts = { application: APPLICATION, entrance, media, db, logger: quietLogger }
  const signal = AbortSignal.timeout(LINKING_MS)
  const attempt = await telegramPlatform(parts).startLink('phone', { phone }, signal)
  const code = await network.ask<string>('codeOf', id)
  const step = await attempt.answer({ kind: 'code', code }, signal)
  await attempt.close()
  if (step.kind !== 'done' || typeof step.secrets !== 'object' || step.secrets === null) {
    throw new Error(`the account was not linked: ${JSON.stringify(step)}`)
  }
  const { native, firstName } = step.account
  return { native, firstName, secrets: step.secrets, owner: 'bench' }
}
