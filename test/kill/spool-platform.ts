/** A network whose other side is the kill test: it hands over numbered events and forgets what was acknowledged. */

import type { Platform } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import { SpoolSession, type SpoolSessionOptions } from './spool-session.ts'

export function spoolPlatform(options: SpoolSessionOptions): Platform {
  return {
    id: 'spool',
    name: 'Spool',
    ids: 'mapped',
    sessions: 'displacing',
    sends: 'blind',
    linkMethods: [
      { method: 'token', fields: [{ name: 'account', label: 'Account', required: true }] },
    ],
    capabilities: {
      operations: ['send'],
      surfaces: ['private'],
      content: ['text'],
      buttons: false,
      entities: [],
      updates: ['message'],
      limits: { textLength: 100 },
    },
    async startLink(_, { account = '' }) {
      const step = {
        kind: 'done',
        account: { native: account, firstName: account },
        secrets: null,
      } as const
      const over = () => Promise.reject(failed('conflict', 'the link has no further step'))
      return { step, answer: over, changed: over, close: async () => undefined }
    },
    resumeLink: () => Promise.reject(failed('conflict', 'the link has no further step')),
    open: (account, report, signal) => new SpoolSession(account, report, signal, options),
  }
}
