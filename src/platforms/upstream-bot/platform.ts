/** A network that speaks the bot API: its bots are linked by their tokens. */

import type { Json, Platform } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { MediaService } from '../../media/media.ts'
import { createGuardedAgent } from '../../net/guard.ts'
import { definePlatform } from '../kit/platform.ts'
import { fieldsOf } from '../kit/stored.ts'
import { Client } from './client.ts'
import type { Flavour } from './flavour.ts'
import { consentField, link, tokenField } from './link.ts'
import { BotApiSession, type SessionOptions } from './session.ts'

interface BotApiOptions extends Partial<Pick<SessionOptions, 'holdSeconds' | 'forgives'>> {
  readonly flavour: Flavour
  /** Where the bot API is, without a slash at its end. */
  readonly url: string
  /** Whoever runs the service chose the address: it may be on this machine. */
  readonly allowPrivate: boolean
  readonly media: Pick<MediaService, 'open' | 'facts'>
  readonly log: Logger
}

interface BotApiPlatform {
  readonly platform: Platform
  close(): Promise<void>
}

/** Every bot keeps one of them busy with its poll. */
const CONNECTIONS = 20_000

export function createBotApi(options: BotApiOptions): BotApiPlatform {
  const { flavour, url: root, allowPrivate, media, log } = options
  const { holdSeconds = 30, forgives = 1 } = options
  const agent = createGuardedAgent({ allowPrivate, connections: CONNECTIONS })
  const clientOf = (token: string) => new Client({ root, token, agent })
  const platform = definePlatform({
    id: flavour.id,
    name: flavour.name,
    ids: 'integer',
    capabilities: flavour.capabilities,
    linkMethods: [{ method: 'token', fields: [tokenField, consentField] }],
    log,
    startLink: (_method, given, signal) => link(given, clientOf, flavour, signal),
    parseSecrets: tokenOf,
    open: (account, token, report) => {
      const client = clientOf(token)
      const sessionOptions = { client, flavour, media, log, holdSeconds, forgives }
      return new BotApiSession(account, report, sessionOptions)
    },
  })
  return { platform, close: () => agent.destroy() }
}

function tokenOf(secrets: Json): string | undefined {
  const { token } = fieldsOf(secrets)
  return typeof token === 'string' ? token : undefined
}
