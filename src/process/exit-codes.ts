/** What the service says by its exit code to whoever started it; `bin/keep-running.mjs` acts on it. */
export const exitCodes = {
  /** Something that the start needs is not to be had: a port, the database, a disk (EX_UNAVAILABLE). */
  cannotStart: 69,
  /** The environment is wrong: another start would end the same way (EX_CONFIG). */
  misconfigured: 78,
} as const
