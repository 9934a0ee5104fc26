/** A network that speaks the bot API: its bots are linked by their tokens. */

import type { Json, Platform, Session } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { MediaDesk } from '../../media/media.ts'
import { createGuardedAgent } from '../../net/guard.ts'
import { Client } from './client.ts'
import type { Flavour } from './flavour.ts'
import { consentField, link, tokenField } from './link.ts'
import type { Log } from './log.ts'
import { BotApiSession, type SessionOptions } from './session.ts'

export interface BotApiOptions extends Partial<Pick<SessionOptions, 'holdSeconds' | 'forgives'>> {
  readonly flavour: Flavour
  /** Where the bot API is, without a slash at its end. */
  readonly url: string
  /** Whoever runs the service chose the address: it may be on this machine. */
  readonly allowPrivate: boolean
  readonly media: Pick<MediaDesk, 'open' | 'facts'>
  readonly log: Log
}

export interface BotApiPlatform {
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
  const platform: Platform = {
    id: flavour.id,
    name: flavour.name,
    ids: 'integer',
    capabilities: flavour.capabilities,
    linkMethods: [{ method: 'token', fields: [tokenField, consentField] }],
    startLink: async (method, given, signal) => {
      if (method !== 'token') throw failed('bad_request', 'field "method" must be token')
      return link(given, clientOf, flavour, signal)
    },
    resumeLink: async () => {
      throw failed('conflict', 'the link has no further step')
    },
    open(account, report, signal) {
      const token = tokenOf(account.secrets)
      if (token === undefined) return unreadable(() => report.invalid('secrets_unreadable'))
      const client = clientOf(token)
      const session = new BotApiSession(account, report, {
        client,
        flavour,
        media,
        log,
        holdSeconds,
        forgives,
      })
      const close = () => {
        session.close().catch((err) => log.warn({ err }, 'the session did not close'))
      }
      signal.addEventListener('abort', close, { once: true })
      return session
    },
  }
  return { platform, close: () => agent.destroy() }
}

function tokenOf(secrets: Json): string | undefined {
  const { token } = (secrets ?? {}) as { readonly token?: Json }
  return typeof token === 'string' ? token : undefined
}

/** A session that never was: its account cannot be used as it is stored. */
function unreadable(tell: () => void): Session {
  // After the caller has the session, as every other report.
  queueMicrotask(tell)
  const refuse = () => Promise.reject(failed('unavailable', 'the account cannot be used'))
  return { perform: refuse, probe: refuse, download: refuse, close: async () => undefined }
}
