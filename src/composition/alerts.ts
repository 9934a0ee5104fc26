/** Builds what tells users of incidents. */
import { Notifier } from '../alerts/notifier.ts'
import { AlertSettingsStore } from '../alerts/settings.ts'
import type { Config } from '../config/config.ts'
import { createGuardedAgent } from '../net/guard.ts'
import { openMailer } from '../net/mail.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Logger } from '../observability/log.ts'
import type { Core } from './core.ts'
import type { Services } from './services.ts'
import type { Storage } from './storage.ts'

const MAIL_MS = 15_000

interface AlertsParts {
  readonly config: Config
  readonly storage: Storage
  readonly core: Core
  readonly services: Services
  readonly nodes: Nodes
  readonly logger: Logger
}

export type Alerts = ReturnType<typeof openAlerts>

/** Goes on with what was not sent before. */
export function openAlerts(parts: AlertsParts, opened: AsyncDisposableStack) {
  const { config, storage, core, services, nodes, logger } = parts
  const { db, vault } = storage
  const { allowPrivate, timeoutMs } = config.webhooks
  const agent = createGuardedAgent({ allowPrivate, connections: 4 })
  opened.defer(() => agent.destroy())
  const mailer = config.mail && openMailer(config.mail.url, MAIL_MS)
  opened.defer(() => mailer?.close())
  const settings = new AlertSettingsStore(db, vault)
  const now = () => core.clock.now()
  const { keys } = core
  const { execution } = services
  const mail = config.mail && mailer && { ...config.mail, mailer }
  const notifier = new Notifier({
    db,
    settings,
    channels: { agent, timeoutMs, keys, execution, mail, now },
    logger,
    incarnation: () => nodes.view().incarnation ?? null,
    now,
  })
  notifier.start()
  opened.defer(() => notifier.stop())
  return { settings, allowPrivate, sendsMail: mail !== undefined, poke: () => notifier.poke() }
}
