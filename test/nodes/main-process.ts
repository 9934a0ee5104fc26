/** The service itself, in a process that does not outlive its test. */
process.stdin.once('close', () => process.exit()).resume()

await import('../../src/main.ts')
