/** The names of an account in the panel. */
import type { Credential } from './types.ts'

export function nameOf({ account }: Pick<Credential, 'account'>): string {
  const { first_name, last_name, username } = account
  return [first_name, last_name].filter(Boolean).join(' ') || username || `${account.id}`
}

export function handleOf({ account }: Pick<Credential, 'account'>): string {
  return account.username ? `@${account.username}` : (account.phone ?? `${account.id}`)
}
