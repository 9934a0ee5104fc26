/** Queries of lists as a page of the panel begins them. */
import type { CredentialQuery } from '../../src/credentials/list.ts'

/** The newest fifty accounts of whatever kind. */
export const anyCredential: CredentialQuery = {
  search: undefined,
  states: undefined,
  platform: undefined,
  actions: undefined,
  reasons: undefined,
  tags: undefined,
  sort: 'created',
  order: 'desc',
  before: undefined,
  limit: 50,
}
