/** Telegram where the service has no registration with it: shown, not usable, and without the library in memory. */

import type { Platform, Session } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import { capabilities } from './capabilities.ts'

/** For users, who cannot set it up; whoever runs the service is told by its log. */
const MISSING = 'Telegram is not set up on this service: ask whoever runs it'

export const facts = {
  id: 'telegram',
  name: 'Telegram',
  ids: 'integer',
  capabilities,
  linkMethods: [
    { method: 'phone', fields: [{ name: 'phone', label: 'Phone number', required: true }] },
    { method: 'qr', fields: [] },
  ],
} as const

export function unconfiguredTelegram(): Platform {
  const refuse = () => Promise.reject(failed('unavailable', MISSING))
  return {
    ...facts,
    unavailable: MISSING,
    startLink: refuse,
    resumeLink: refuse,
    open: (_, report) => unusable(() => report.lost('not_configured')),
  }
}

/** A session that never was: its account cannot be used as it is stored, or as the service is set up. */
export function unusable(tell: () => void): Session {
  // After the caller has the session, as every other report.
  queueMicrotask(tell)
  const refuse = () => Promise.reject(failed('unavailable', 'the account cannot be used'))
  return { perform: refuse, probe: refuse, download: refuse, close: async () => undefined }
}
