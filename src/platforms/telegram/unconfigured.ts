/** Telegram where the service has no registration with it: shown, not usable, and without the library in memory. */

import type { Platform } from '../../../actors/ports/platform.ts'
import { unavailablePlatform } from '../../../actors/ports/unavailable.ts'
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

export const unconfiguredTelegram = (): Platform =>
  unavailablePlatform(facts, {
    description: MISSING,
    lost: (report) => report.lost('not_configured'),
  })
