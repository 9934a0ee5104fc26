/** A person or a bot of a network. */
export interface Person {
  readonly native: string
  readonly firstName: string
  readonly lastName?: string
  readonly username?: string
  readonly phone?: string
  readonly languageCode?: string
  readonly isBot?: boolean
}
