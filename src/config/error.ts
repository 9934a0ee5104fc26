/** What is wrong with the environment: names the variable, never its value, which may be a secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'

  constructor(problem: string) {
    super(`configuration: ${problem}`)
  }
}
