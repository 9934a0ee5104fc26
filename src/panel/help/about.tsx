/** The foot of every page: how the service is, its version, and where its documentation is. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ask } from '../api/failure.ts'
import { versionOf } from '../api/session.ts'
import { useT } from '../i18n/language.tsx'

interface Ready {
  readonly status: 'ready'
  readonly degraded?: readonly string[]
}

/** The page's own questions go first: a browser has six connections to one server. */
const LOOK_FIRST_MS = 1_000
const LOOK_MS = 60_000
/** A single question may fail for reasons that pass at once. */
const LOOK_AGAIN_MS = 5_000

/** Whether the service can do its work, with words for those who see no colours. */
function Status() {
  const t = useT()
  const [isTime, setTime] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setTime(true), LOOK_FIRST_MS)
    return () => clearTimeout(timer)
  }, [])
  const ready = useQuery({
    queryKey: ['ready'],
    enabled: isTime,
    queryFn: () => ask<Ready>('/health/ready'),
    refetchInterval: ({ state }) => (state.status === 'error' ? LOOK_AGAIN_MS : LOOK_MS),
    retry: false,
  })
  const missing = ready.data?.degraded ?? []
  const [tone, words] = ready.isError
    ? (['bad', t('about.down')] as const)
    : !ready.data
      ? (['idle', t('about.asking')] as const)
      : missing.length > 0
        ? (['warn', t('about.degraded', { parts: missing.join(', ') })] as const)
        : (['good', t('about.well')] as const)
  return (
    <span className={`badge dot tone-${tone}`} role="status">
      {words}
    </span>
  )
}

export function About() {
  const t = useT()
  return (
    <div className="stack tight small about">
      <Status />
      <span className="row quiet">
        <span className="ltr">Chapar {versionOf()}</span>
        <a href="/docs" target="_blank" rel="noreferrer">
          {t('about.docs')}
        </a>
        <a href="/openapi.json" target="_blank" rel="noreferrer" className="ltr">
          openapi.json
        </a>
      </span>
    </div>
  )
}
