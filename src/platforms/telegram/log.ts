/** The part of the logger that the platform uses. */
export interface Log {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
}
