/** A choice kept in the address, so that the view can be shared and survives a reload. */
import { useSearchParams } from 'react-router'

export function useInAddress(name: string): readonly [string, (value: string) => void] {
  const [query, setQuery] = useSearchParams()
  const choose = (value: string) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )
  return [query.get(name) ?? '', choose]
}
