/** How phones are found without being stored in the clear: by a keyed hash. */
import { createHmac } from 'node:crypto'
import type { Vault } from '../security/vault.ts'

export type IndexOf = (phone: string) => Buffer

export function phoneIndex(vault: Pick<Vault, 'derive'>): IndexOf {
  const key = vault.derive('phone-index')
  return (phone) => createHmac('sha256', key).update(phone).digest()
}
