/** A network that speaks the bot API: its bots are linked by their tokens. */

import type { Platform, WritePermit } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import { createGuardedAgent, GuardedConnections } from '../../net/guard.ts'
import { ANSWER_LINE_BYTES } from '../kit/http-client.ts'
import { definePlatform, fieldsOf } from '../kit/platform.ts'
import { BotApiClient } from './client.ts'
import type { Flavour } from './flavour.ts'
import { consentField, link, tokenField } from './link.ts'
import type { WantedUpdates } from './poll.ts'
import { BotApiSession, type SessionOptions } from './session.ts'

interface BotApiOptions extends Partial<Pick<SessionOptions, 'holdSeconds' | 'forgives'>> {
  readonly flavour: Flavour
  readonly wanted: WantedUpdates
  /** The base address of the bot API, without a slash at its end. */
  readonly url: string
  /** The operator chose the address, so it may be on this machine. */
  readonly allowPrivate: boolean
  readonly logger: Logger
}

interface BotApiPlatform {
  readonly platform: Platform
  close(): Promise<void>
}

/** Every bot keeps one connection busy with its poll. */
const CONNECTIONS = { polls: 20_000, calls: 1_000, files: 1_000 }

export function createBotApi(options: BotApiOptions): BotApiPlatform {
  const { flavour, wanted, url: root, allowPrivate, logger } = options
  const { holdSeconds = 30, forgives = 1 } = options
  const { origin } = new URL(root)
  const open = (connections: number) =>
    new GuardedConnections(origin, { allowPrivate, connections, answerBytes: ANSWER_LINE_BYTES })
  const polls = open(CONNECTIONS.polls)
  const calls = open(CONNECTIONS.calls)
  const files = createGuardedAgent({
    allowPrivate,
    connections: CONNECTIONS.files,
    ...(flavour.needsFreshConnections && { keepAliveMs: 0 }),
  })
  const clientOf = (token: string, permit?: WritePermit) =>
    new BotApiClient({ root, token, agent: calls, files, ...(permit && { permit }) })
  const platform = definePlatform({
    id: flavour.id,
    name: flavour.name,
    ids: 'integer',
    sessions: 'displacing',
    sends: 'blind',
    capabilities: flavour.capabilities,
    linkMethods: [{ method: 'token', fields: [tokenField, consentField] }],
    logger,
    startLink: (_method, given, signal, _user, assertMeant) =>
      link(given, clientOf, { flavour, signal, assertMeant }),
    parseSecrets: tokenOf,
    open: (account, token, report) => {
      const { permit } = account
      const poller = new BotApiClient({
        root,
        token,
        agent: polls,
        files,
        ...(permit && { permit }),
      })
      const clients = { client: clientOf(token, permit), poller }
      const sessionOptions = { ...clients, flavour, wanted, logger, holdSeconds, forgives }
      return new BotApiSession(account, report, sessionOptions)
    },
  })
  const close = async () => {
    polls.close()
    calls.close()
    await files.destroy()
  }
  return { platform, close }
}

function tokenOf(secrets: Json): string | undefined {
  const { token } = fieldsOf(secrets)
  return typeof token === 'string' ? token : undefined
}
