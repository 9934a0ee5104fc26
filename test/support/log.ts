/** A log that nobody reads, for parts whose messages are not what a test is about. */
const ignore = () => undefined

export const quietLog = { info: ignore, warn: ignore, error: ignore }
