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

export interface OperatorTools {
  readonly config: Config
  readonly db: Database
  readonly url: string
  readonly logger: Logger
}

/** What a command changes is changed by the operator, at this machine. */
export const byOperator = <Result>(action: Action, work: () => Result): Result =>
  changedBy({ via: 'command', action, ip: hostname() }, work)

interface OperatorCommand<Asked> {
  readonly usage: string
  /** What the words ask for; undefined where they are not understood. */
  read(words: readonly string[]): Asked | undefined
  run(tools: OperatorTools, asked: Asked): Promise<void>
}

/** As shells and their commands have it. */
const MISUSED = 2
const HELP: readonly string[] = ['--help', '-h']

/** For a command that takes no words. */
export const noWords = (words: readonly string[]) => (words.length === 0 ? words : undefined)

/**
 * Runs a command. Its words are read before anything is opened, so that a question or a mistyped word does nothing. A failure
 * to reach the database is reported in one line, as at a start of the service.
 */
export async function operate<Asked>({ usage, read, run }: OperatorCommand<Asked>): Promise<void> {
  const words = process.argv.slice(2)
  const wantsHelp = words.some((word) => HELP.includes(word))
  const asked = wantsHelp ? undefined : read(words)
  if (asked === undefined) {
    const to = wantsHelp ? process.stdout : process.stderr
    to.write(usage)
    process.exitCode = wantsHelp ? 0 : MISUSED
    return
  }
  try {
    await using opened = new AsyncDisposableStack()
    await run(await open(opened), asked)
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
