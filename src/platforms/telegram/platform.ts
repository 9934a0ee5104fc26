/** Telegram accounts: people's own, linked by phone number or QR code. */

import type {
  LinkAttempt,
  LinkStep,
  Platform,
  WritePermit,
} from '../../../actors/ports/platform.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import { definePlatform, fieldsOf, noFurtherStep } from '../kit/platform.ts'
import type { SessionOptions } from './assemble.ts'
import { createClient, signOut } from './client.ts'
import { facts } from './facts.ts'
import { PhoneLink } from './link/phone.ts'
import { QrLink } from './link/qr.ts'
import type { SignIn } from './link/sign-in.ts'
import { TelegramSession } from './session.ts'
import { locationWrites } from './storage/locations.ts'
import { noPeers, peerWrites } from './storage/peers.ts'
import { parseSecrets, SessionStorage, type TelegramSecrets } from './storage/session-storage.ts'
import { UpdateState } from './storage/update-state.ts'

type RequiredOption = 'application' | 'db' | 'media' | 'logger'
export interface TelegramOptions
  extends Pick<SessionOptions, RequiredOption>,
    Partial<Omit<SessionOptions, RequiredOption | 'locationWrites' | 'peerWrites'>> {}

const defaults = {
  resumeMilliseconds: 20_000,
  answerMilliseconds: 25_000,
  recovery: { ofChat: 5_000, inAll: 20_000 },
}

export function telegramPlatform({ application, ...given }: TelegramOptions): Platform {
  const { db, logger } = given
  const shared = { locationWrites: locationWrites(db, logger), peerWrites: peerWrites(db) }
  const options = { ...defaults, ...given, ...shared }

  const clientOf = (secrets: TelegramSecrets | undefined, permit?: WritePermit): SignIn => {
    const state = new UpdateState(null)
    const storage = new SessionStorage({ state, peers: noPeers, ...(secrets && { secrets }) })
    const client = createClient({
      application,
      storage,
      updates: false,
      defect: (err) => options.logger.warn({ err }, 'a part of a link failed'),
      ...(permit && { permit }),
      ...(options.entrance && { entrance: options.entrance }),
    })
    return { client, storage }
  }
  const signIn = (stored: Json = null) => clientOf(parseSecrets(fieldsOf(stored).session))

  return definePlatform({
    ...facts,
    logger: options.logger,
    startLink: (method, fields, signal) =>
      attempt(signIn(), (to) =>
        method === 'qr'
          ? QrLink.start(to, signal)
          : PhoneLink.start(to, fields.phone ?? '', signal),
      ),
    resumeLink: (stored, signal) =>
      attempt(
        signIn(stored),
        async (to) =>
          PhoneLink.resume(to, stored) ??
          (await QrLink.resume(to, stored, signal)) ??
          noFurtherStep(),
      ),
    parseSecrets,
    open(account, secrets, report) {
      const session = new TelegramSession(account, secrets, report, { ...options, application })
      session.open()
      return session
    },
    async signOut(stored, permit, signal) {
      const secrets = parseSecrets(stored)
      if (!secrets) return
      const { client } = clientOf(secrets, permit)
      await signOut(client, signal).finally(() => client.destroy())
    },
  })
}

const LEAVES_MS = 5_000

/** Closes the connection of a link that has ended or never began. */
async function attempt(
  to: SignIn,
  begin: (to: SignIn) => Promise<LinkAttempt>,
): Promise<LinkAttempt> {
  /** The session is signed out, or whoever got its secrets does it. */
  let isSettled = false
  const settled = async (step: LinkStep) => {
    if (step.kind !== 'done') return step
    isSettled = true
    await to.client.destroy()
    return step
  }
  /** The network may have taken an answer whose reply was lost. */
  const leave = async () => {
    if (isSettled) return
    await signOut(to.client, AbortSignal.timeout(LEAVES_MS))
    isSettled = true
  }
  try {
    const link = await begin(to)
    await settled(link.step)
    return {
      step: link.step,
      answer: async (answer, signal) => settled(await link.answer(answer, signal)),
      changed: async (signal) => settled(await link.changed(signal)),
      async close(options) {
        try {
          if (options?.signOut) await leave()
        } finally {
          await link.close()
        }
      },
    }
  } catch (cause) {
    await to.client.destroy()
    throw cause
  }
}
