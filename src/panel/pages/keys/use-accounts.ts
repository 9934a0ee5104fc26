/** The accounts among which one is chosen: those found, and the chosen one wherever it is. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { credentialQuery } from '../../api/queries.ts'
import type { Credential, Page } from '../../api/types.ts'

/** More than that nobody looks through: they are searched. */
const SHOWN = 200

export function useAccounts(chosen: string) {
  const [search, setSearch] = useState('')
  const found = useQuery({
    queryKey: ['accounts', search],
    queryFn: ({ signal }) =>
      call<Page<Credential>>('GET', '/platforms/credentials', {
        query: { limit: SHOWN, search },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  const items = found.data?.items ?? []
  const isChosen = ({ credential_id }: Credential) => `${credential_id}` === chosen
  const isAmong = items.some(isChosen)
  const own = useQuery({
    ...credentialQuery(Number(chosen)),
    enabled: chosen !== '' && found.data !== undefined && !isAmong,
  })
  const options = own.data && !isAmong ? [own.data, ...items] : items
  const usual = items.find(({ state }) => state === 'active') ?? items[0]
  return {
    search,
    setSearch,
    options,
    /** Undefined while it is not known what the choice is. */
    account: options.find(isChosen) ?? (chosen === '' || own.isError ? usual : undefined),
    failure: found.data ? undefined : found.error,
    hasNone: search === '' && found.data !== undefined && options.length === 0,
    isLong: search !== '' || (found.data?.next_before ?? null) !== null,
  }
}
