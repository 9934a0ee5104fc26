/** Opens the networks whose accounts can be linked. */
import type { Platform } from '../../actors/ports/platform.ts'
import type { Config } from '../config/config.ts'
import type { Bus } from '../nodes/bus.ts'
import type { Logger } from '../observability/logger.ts'
import { sandboxPlatform } from '../platforms/sandbox/platform.ts'
import { unconfiguredTelegram } from '../platforms/telegram/facts.ts'
import type { TelegramOptions } from '../platforms/telegram/platform.ts'
import { bale, soroush, telegramBot } from '../platforms/upstream-bot/flavour.ts'
import { createBotApi } from '../platforms/upstream-bot/platform.ts'
import { xmppPlatform } from '../platforms/xmpp/platform.ts'
import { PostgresRooms } from '../platforms/xmpp/rooms/kept.ts'
import type { HubNews } from '../sandbox/delivery/hub.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import type { Storage } from './storage.ts'

interface NetworkOptions {
  readonly config: Config
  readonly storage: Storage
  readonly logger: Logger
  readonly bus: Bus
  /** Beside the platforms that are built in. */
  readonly more: readonly Platform[]
}

export async function openNetworks(options: NetworkOptions, opened: AsyncDisposableStack) {
  const { config, storage, logger, more, bus } = options
  const { db, vault, writes, wanted } = storage
  const media = storage.media.service
  const sandbox = config.sandbox
    ? createSandbox({
        db,
        logger,
        media,
        limits: config.sandboxLimits,
        announce: bus.teller('sandbox'),
      })
    : undefined
  bus.on('sandbox', (news) => sandbox?.hub.heard(news as unknown as HubNews))
  bus.onGap(() => sandbox?.lookAround())
  if (sandbox) opened.defer(() => sandbox.close())
  writes.onRecovery(() => sandbox?.lookAround())

  const upstreams = [
    createBotApi({ flavour: telegramBot, ...config.botApi.telegram, wanted, logger }),
    createBotApi({ flavour: bale, ...config.botApi.bale, wanted, logger }),
    createBotApi({ flavour: soroush, ...config.botApi.soroush, wanted, logger }),
  ]
  for (const { close } of upstreams) opened.defer(close)
  const platforms = [
    ...(sandbox ? [sandboxPlatform(sandbox)] : []),
    // A server on loopback is for trying out: in production it would be a way into this machine.
    xmppPlatform({
      logger,
      media,
      rooms: new PostgresRooms({ db, vault }),
      allowPrivate: !config.production,
    }),
    await telegramOf(config.telegram, { db, media, logger }),
    ...upstreams.map(({ platform }) => platform),
    ...more,
  ]
  return { sandbox, platforms: new Map(platforms.map((platform) => [platform.id, platform])) }
}

/** Loads Telegram's library only where it is used: it is a quarter of what a start would load. */
async function telegramOf(
  application: Config['telegram'],
  options: Omit<TelegramOptions, 'application'>,
): Promise<Platform> {
  if (!application) {
    const remedy = 'set TELEGRAM_API_ID and TELEGRAM_API_HASH, from https://my.telegram.org'
    options.logger.info({ remedy }, 'accounts of Telegram cannot be linked')
    return unconfiguredTelegram()
  }
  const { telegramPlatform } = await import('../platforms/telegram/platform.ts')
  return telegramPlatform({ application, ...options })
}
