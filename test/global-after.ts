/** Runs after all test files: stops the shared server if this run was the last to use it. */
import { leaveTestServer } from './support/postgres.ts'

await leaveTestServer()
