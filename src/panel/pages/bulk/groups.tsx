/** Why accounts are out, and how many for each reason: pressed, a reason is a filter of the list. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ListFilter } from '../../api/queries.ts'
import type { CredentialGroups } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'

export const groupsQuery = ({ sort, order, ...filter }: ListFilter) =>
  queryOptions({
    queryKey: ['groups', filter],
    queryFn: ({ signal }) =>
      call<CredentialGroups>('GET', '/platforms/credentials/groups', { query: filter, signal }),
    placeholderData: keepPreviousData,
  })

/** More are a wall of text. */
const AT_FIRST = 6

interface GroupsProps {
  readonly groups: CredentialGroups | undefined
  /** The reasons that are filtered by, with commas between. */
  readonly given: string | undefined
  set(changes: { readonly reason: string }): void
}

export function Groups({ groups, given, set }: GroupsProps) {
  const t = useT()
  const { number } = useFormats()
  const [isWhole, setWhole] = useState(false)
  const picked = given?.split(',') ?? []
  const counts = groups?.by_reason ?? {}
  const all = [...new Set([...Object.keys(counts), ...picked])].sort(
    (one, other) => (counts[other] ?? 0) - (counts[one] ?? 0),
  )
  if (all.length === 0) return null
  const shown = all.filter((one, place) => isWhole || place < AT_FIRST || picked.includes(one))
  const toggle = (one: string) =>
    picked.includes(one) ? picked.filter((other) => other !== one) : [...picked, one]
  return (
    <ul className="chips" aria-label={t('bulk.groups')}>
      {shown.map((one) => (
        <li key={one}>
          <button
            type="button"
            className="chip"
            aria-pressed={picked.includes(one)}
            onClick={() => set({ reason: toggle(one).join(',') })}
          >
            <strong className="number">{number(counts[one] ?? 0)}</strong>
            {t.word('reason', one)}
          </button>
        </li>
      ))}
      {shown.length < all.length && (
        <li>
          <button type="button" className="chip" onClick={() => setWhole(true)}>
            {t.count('bulk.moreGroups', all.length - shown.length)}
          </button>
        </li>
      )}
    </ul>
  )
}
