/** The updates that a call caused, each with the attempts to deliver it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/call.ts'
import type { ApiRequest, CausedUpdates } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Failed, Loading } from '../../ui/states.tsx'

const LOOK_MS = 5_000
/** An update is usually attempted sooner; later ones are seen after a reload. */
const LOOKS_FOR_MS = 120_000

/** Whether attempts may still come; a wrong clock of the browser is no reason to ask for ever. */
const isWaited = (updates: CausedUpdates | undefined, at: string) =>
  Math.abs(Date.now() - Date.parse(at)) < LOOKS_FOR_MS &&
  !updates?.some(({ attempts }) => attempts.length > 0)

interface CausedProps {
  readonly keyId: number
  readonly request: ApiRequest
}

export function Caused({ keyId, request: { request_id, at } }: CausedProps) {
  const t = useT()
  const caused = useQuery({
    queryKey: ['caused', keyId, request_id],
    queryFn: ({ signal }) =>
      call<CausedUpdates>('GET', `/api_keys/${keyId}/requests/${request_id}/updates`, {
        query: { at },
        signal,
      }),
    refetchInterval: ({ state }) => isWaited(state.data, at) && LOOK_MS,
  })
  if (caused.isError && !caused.data) {
    return <Failed cause={caused.error} retry={() => caused.refetch()} />
  }
  if (!caused.data) return <Loading />
  return (
    <section className="inset">
      <h3 className="small">{t('requests.caused')}</h3>
      {caused.data.length === 0 && <p className="quiet small">{t('caused.none')}</p>}
      <ul className="records">
        {caused.data.map((update) => (
          <Update key={update.update_id} update={update} />
        ))}
      </ul>
    </section>
  )
}

function Update({ update }: { readonly update: CausedUpdates[number] }) {
  const t = useT()
  const { update_id, kind, chat_id, attempts } = update
  return (
    <li className="record">
      <span className="grow small">
        {t('deliveries.update', { id: `${update_id}` })} · <code>{kind}</code>
        {chat_id !== null && ` · ${t('deliveries.chat', { id: `${chat_id}` })}`}
        {attempts.length === 0 && <span className="quiet block">{t('caused.notAttempted')}</span>}
      </span>
      {attempts.map(({ api_key_id, attempt, at, status, error }) => {
        const answer = status === null ? t('deliveries.noAnswer') : `${status}`
        const words = [
          t('keys.one', { id: `${api_key_id}` }),
          t('deliveries.attempt', { number: attempt }),
          answer,
        ]
        return (
          <Link
            key={`${api_key_id} ${attempt} ${at}`}
            to={`/dashboard/keys/${api_key_id}?tab=deliveries&update=${update_id}`}
            aria-label={words.join(', ')}
          >
            <Badge tone={error === null ? 'good' : 'bad'}>{answer}</Badge>
          </Link>
        )
      })}
    </li>
  )
}
