/** Runs commands of the operator with the service's configuration and its database, which is started if necessary. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '../../actors/ports/ports.ts'
import type { Action } from '../audit/actions.ts'
import { changedBy } from '../audit/log.ts'
import { type Config, readConfig } from '../config/config.ts'
import { ConfigurationError } from '../config/environment.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { keepRunning } from '../database/embedded/supervisor.ts'
import { createLogger } from '../observability/logger.ts'
import { exitCodes, StartFailure } from '../process/fatal-errors.ts'

interface OperatorTools {
  readonly config: Config
  readonly db: Database
  readonly url: string
  readonly logger: Logger
}

/** What a command changes is changed by the operator, at this machine. */
export const byOperator = <Result>(action: Action, work: () => Result): Result =>
  changedBy({ via: 'command', action, ip: hostname() }, work)

/** Runs a command. A failure to reach the database is reported in one line, as at a start of the service. */
export async function operate(command: (tools: OperatorTools) => Promise<void>): Promise<void> {
  try {
    await using opened = new AsyncDisposableStack()
    await command(await open(opened))
  } catch (error) {
    if (!(error instanceof StartFailure || error instanceof ConfigurationError)) throw error
    process.stderr.write(`chapar: ${error.message}\n`)
    const { cannotStart, misconfigured } = exitCodes
    process.exitCode = error instanceof StartFailure ? cannotStart : misconfigured
  }
}

async function open(opened: AsyncDisposableStack): Promise<OperatorTools> {
  const config = readConfig()
  // Standard output is the command's: of what is usual nothing is said.
  const logger = createLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel })
  let url = config.databaseUrl
  if (url === undefined) {
    const postgres = await keepRunning({ dir: join(config.dataDir, 'postgres'), logger })
    opened.defer(() => postgres.stop())
    url = postgres.url()
  }
  const db = openDatabase({ url, logger })
  opened.defer(() => db.close())
  return { config, db, url, logger }
}
