/** Telegram accounts: people's own, linked by phone number or QR code. */
import { failed } from '../../../actors/errors.ts'
import type { Json, LinkAttempt, LinkStep, Platform, Session } from '../../../actors/platform.ts'
import type { SessionOptions } from './assemble.ts'
import { capabilities } from './capabilities.ts'
import { type Application, createClient } from './client.ts'
import { PhoneLink } from './link/phone.ts'
import { QrLink } from './link/qr.ts'
import type { SignIn } from './link/sign-in.ts'
import { TelegramSession } from './session.ts'
import { noPeers } from './storage/peers.ts'
import { fieldsOf, parseSecrets } from './storage/secrets.ts'
import { SessionStorage } from './storage/session-storage.ts'
import { UpdateState } from './storage/update-state.ts'

export interface TelegramOptions
  extends Omit<Partial<SessionOptions>, 'application' | 'db' | 'media' | 'log'>,
    Pick<SessionOptions, 'db' | 'media' | 'log'> {
  /** The service's own registration with the network; absent: accounts cannot be used. */
  readonly application: Application | undefined
}

const MISSING = 'TELEGRAM_API_ID and TELEGRAM_API_HASH are not set; see https://my.telegram.org'
const defaults = {
  resumeMilliseconds: 20_000,
  answerMilliseconds: 25_000,
  recovery: { ofChat: 1_000, inAll: 5_000 },
}

export function telegramPlatform({ application, ...given }: TelegramOptions): Platform {
  const options = { ...defaults, ...given }

  const usable = (): Application => {
    if (application) return application
    throw failed('unavailable', MISSING)
  }
  const signIn = (stored: Json = null): SignIn => {
    const secrets = parseSecrets(fieldsOf(stored).session)
    const state = new UpdateState(null)
    const storage = new SessionStorage({ state, peers: noPeers, ...(secrets && { secrets }) })
    const client = createClient({
      application: usable(),
      storage,
      updates: false,
      defect: (err) => options.log.warn({ err }, 'a part of a link failed'),
      ...(options.entrance && { entrance: options.entrance }),
    })
    return { client, storage }
  }

  return {
    id: 'telegram',
    name: 'Telegram',
    ids: 'integer',
    capabilities,
    ...(!application && { unavailable: MISSING }),
    linkMethods: [
      { method: 'phone', fields: [{ name: 'phone', label: 'Phone number', required: true }] },
      { method: 'qr', fields: [] },
    ],
    startLink(method, fields, signal) {
      if (method !== 'phone' && method !== 'qr') {
        return Promise.reject(failed('bad_request', 'field "method" must be phone or qr'))
      }
      return attempt(signIn(), (to) =>
        method === 'qr'
          ? QrLink.start(to, signal)
          : PhoneLink.start(to, fields.phone ?? '', signal),
      )
    },
    resumeLink: (stored, signal) =>
      attempt(signIn(stored), async (to) => {
        const found = PhoneLink.resume(to, stored) ?? (await QrLink.resume(to, stored, signal))
        if (found) return found
        throw failed('conflict', 'the link has no further step')
      }),
    open(account, report, signal) {
      const secrets = parseSecrets(account.secrets)
      if (!secrets) return unusable(() => report.invalid('secrets_unreadable'))
      if (!application) return unusable(() => report.lost('not_configured'))
      const session = new TelegramSession(account, secrets, report, { ...options, application })
      const close = () => {
        session.close({ signOut: false }).catch((err) => {
          options.log.warn({ err }, 'the session did not close')
        })
      }
      signal.addEventListener('abort', close, { once: true })
      session.open()
      return session
    },
  }
}

/** A link that has come to its end, or never began, leaves no connection behind. */
async function attempt(
  to: SignIn,
  begin: (to: SignIn) => Promise<LinkAttempt>,
): Promise<LinkAttempt> {
  const settled = async (step: LinkStep) => {
    if (step.kind === 'done' || step.kind === 'refused') await to.client.destroy()
    return step
  }
  try {
    const link = await begin(to)
    await settled(link.step)
    return {
      step: link.step,
      answer: async (answer, signal) => settled(await link.answer(answer, signal)),
      changed: async (signal) => settled(await link.changed(signal)),
      close: () => link.close(),
    }
  } catch (cause) {
    await to.client.destroy()
    throw cause
  }
}

/** A session that never was: its account cannot be used as it is stored, or as the service is set up. */
function unusable(tell: () => void): Session {
  // After the caller has the session, as every other report.
  queueMicrotask(tell)
  const refuse = () => Promise.reject(failed('unavailable', 'the account cannot be used'))
  return { perform: refuse, probe: refuse, download: refuse, close: async () => undefined }
}
