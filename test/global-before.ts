/** Runs before all test files: has the shared server and its template ready. */
import { joinTestServer } from './support/postgres.ts'
import { ensureTemplate } from './support/template.ts'

const server = await joinTestServer()
await ensureTemplate(server)
await server.client.end()
