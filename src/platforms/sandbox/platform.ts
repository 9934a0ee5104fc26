/** The sandbox as a platform of the gateway: its people link their accounts like those of any other network. */
import type { Platform } from '../../../actors/ports/platform.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { capabilities } from './capabilities.ts'
import { Linking } from './link.ts'
import { SandboxSession } from './session.ts'

export function sandboxPlatform({ services, hub }: Pick<Sandbox, 'services' | 'hub'>): Platform {
  const linking = new Linking(services)
  return {
    id: 'sandbox',
    name: 'Sandbox',
    linkMethods: [
      { method: 'phone', fields: [{ name: 'phone', label: 'Phone number', required: true }] },
      { method: 'token', fields: [{ name: 'token', label: 'Token of a bot', required: true }] },
    ],
    capabilities,
    ids: 'integer',
    startLink: (method, fields, _signal, user) => linking.start(user, method, fields),
    resumeLink: (stored) => linking.resume(stored),
    open: (account, report, signal) => {
      const session = new SandboxSession(services, hub, report)
      signal.addEventListener('abort', () => session.abandon(), { once: true })
      void session.open(account)
      return session
    },
  }
}
