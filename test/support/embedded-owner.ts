/** Run as a process of its own: starts an embedded server, says so, and waits to be killed. */
import { startEmbeddedPostgres } from '../../src/database/embedded/supervisor.ts'
import { quietLogger } from './logger.ts'

const [, , dir = ''] = process.argv
const server = await startEmbeddedPostgres({ dir, logger: quietLogger })
process.stdout.write(`${server.pid}\n`)
await server.onExit
