/** /dashboard/keys/:id/diagnosis: finds out, step by step, why a bot does not get or send its messages. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearchParams } from 'react-router'
import { keyQuery } from '../../api/queries.ts'
import { useT } from '../../i18n/language.tsx'
import { Page } from '../../ui/page.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { Course } from './course.tsx'
import { Start } from './start.tsx'

export function DiagnosisPage() {
  const t = useT()
  const { id } = useParams()
  const keyId = Number(id)
  const key = useQuery(keyQuery(keyId))
  const [query, setQuery] = useSearchParams()
  const under = query.get('diagnosis')
  return (
    <Page
      narrow
      title={t('diagnosis.title')}
      lead={t('diagnosis.lead')}
      crumbs={
        key.data && (
          <Link to={`/dashboard/keys/${keyId}`}>
            {t('diagnosis.ofKey', { name: key.data.name })}
          </Link>
        )
      }
    >
      {key.isError && !key.data ? (
        <Failed cause={key.error} retry={() => key.refetch()} />
      ) : !key.data ? (
        <Loading />
      ) : under ? (
        <Course
          key={under}
          apiKey={key.data}
          diagnosisId={under}
          runs={query.get('run') === 'all'}
          anew={() => setQuery({})}
        />
      ) : (
        <Start
          keyId={keyId}
          onStart={({ diagnosis_id: diagnosis }, isAll) =>
            setQuery({ diagnosis, ...(isAll && { run: 'all' }) }, { replace: true })
          }
        />
      )}
    </Page>
  )
}
