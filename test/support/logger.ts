/** A logger that writes nothing, for parts whose messages are not the subject of a test. */
const ignore = () => undefined

export const quietLogger = { info: ignore, warn: ignore, error: ignore }
