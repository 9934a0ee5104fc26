/** Builds the notifications of incidents, and watches this node's disk. */
import { statfs } from 'node:fs/promises'
import { Notifier } from '../alerts/notifier.ts'
import { noteDisk } from '../alerts/rules.ts'
import { AlertSettingsStore } from '../alerts/settings.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { createGuardedAgent, SHORT_ANSWER_BYTES } from '../net/guard.ts'
import { openMailer } from '../net/mail.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Logger } from '../observability/logger.ts'
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

/** Begins with the notifications that were not sent before a restart. */
export function openAlerts(parts: AlertsParts, opened: AsyncDisposableStack) {
  const { config, storage, core, services, nodes, logger } = parts
  const { db, vault } = storage
  const { allowPrivate, timeoutMs } = config.webhooks
  const agent = createGuardedAgent({
    allowPrivate,
    connections: 4,
    answerBytes: SHORT_ANSWER_BYTES,
  })
  opened.defer(() => agent.destroy())
  const mailer = config.mail && openMailer(config.mail.url, MAIL_MS)
  opened.defer(() => mailer?.close())
  const settings = new AlertSettingsStore(db, vault)
  const now = () => core.clock.now()
  const { keys } = core
  const { execution } = services
  const mail = config.mail && mailer && { ...config.mail, mailer }
  const page = `${config.panelUrls[0]}/dashboard/alerts`
  const notifier = new Notifier({
    db,
    settings,
    channels: { agent, timeoutMs, page, keys, execution, mail, now },
    logger,
    incarnation: () => nodes.view().incarnation ?? null,
    now,
  })
  notifier.start()
  opened.defer(() => notifier.stop())
  opened.defer(watchDisk({ ...config, db, logger }))
  return {
    settings,
    allowPrivate,
    sendsMail: mail !== undefined,
    poke: () => notifier.poke(),
  }
}

const DISK_MS = 60_000
/** Nearly full: both a small part and little. */
const FREE_PART = 0.1
const FREE_BYTES = 5 * 2 ** 30

interface DiskParts extends Pick<Config, 'dataDir' | 'node'> {
  readonly db: Database
  readonly logger: Logger
}

/** Returns how to stop. */
function watchDisk({ dataDir, node, db, logger }: DiskParts): () => void {
  const look = async () => {
    const { bavail, blocks, bsize } = await statfs(dataDir)
    await noteDisk(db, node, bavail < FREE_PART * blocks && bavail * bsize < FREE_BYTES)
  }
  const timer = setInterval(
    () => look().catch((err) => logger.warn({ err }, 'the disk was not looked at')),
    DISK_MS,
  )
  return () => clearInterval(timer)
}
