/** Request and answer of one webhook attempt, and the choices of what is kept of a key's attempts and calls. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey, Delivery, ExchangeChoices, WebhookExchanges } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Choice } from '../../ui/form.tsx'
import { Failed, Loading, Wrong } from '../../ui/states.tsx'
import { laidOut } from './sending.ts'

export function Exchanges({ delivery }: { readonly delivery: Delivery }) {
  const t = useT()
  const { api_key_id, update_id, attempt, at } = delivery
  const kept = useQuery({
    queryKey: ['exchanges', api_key_id, update_id, attempt],
    queryFn: ({ signal }) =>
      call<WebhookExchanges>('GET', `/api_keys/${api_key_id}/webhook/exchanges`, {
        query: { update_id },
        signal,
      }),
  })
  if (kept.isError && !kept.data) {
    return <Failed cause={kept.error} retry={() => kept.refetch()} />
  }
  if (!kept.data) return <Loading />
  // A replayed update has attempts of the same number: the time tells them apart.
  const found = kept.data.items.find((one) => one.attempt === attempt && one.at === at)
  return (
    <div className="stack tight inset">
      {found ? (
        <>
          <Side title={t('exchange.request')} side={found.request} />
          {found.response ? (
            <Side title={t('exchange.response')} side={found.response} />
          ) : (
            <p className="quiet small">{t('exchange.noResponse')}</p>
          )}
        </>
      ) : (
        <Stored update={kept.data.update} />
      )}
    </div>
  )
}

/** The body of every attempt is the update, which is there though nothing of the attempt was kept. */
function Stored({ update }: Pick<WebhookExchanges, 'update'>) {
  const t = useT()
  return (
    <>
      <p className="quiet small">{t(update ? 'exchange.stored' : 'exchange.none')}</p>
      {update && <Text title={t('exchange.body')} body={update.body} isCut={update.is_cut} />}
    </>
  )
}

const choices = ['none', 'failed', 'all'] as const
/** By what is kept, where its choice is stored. */
const paths = { calls: 'requests/exchanges', deliveries: 'webhook/exchanges' } as const

interface KeepingProps {
  readonly apiKey: ApiKey
  readonly of: keyof typeof paths
}

/** The choice of which calls, or which attempts, of a key are kept with their contents. */
export function Keeping({ apiKey: { api_key_id, revoked_at }, of }: KeepingProps) {
  const t = useT()
  const queries = useQueryClient()
  const queryKey = ['keeping', api_key_id]
  const kept = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      call<ExchangeChoices>('GET', `/api_keys/${api_key_id}/exchanges`, { signal }),
  })
  const choosing = useMutation({
    mutationFn: (keep: string) =>
      call('PUT', `/api_keys/${api_key_id}/${paths[of]}`, { body: { keep } }),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
  if (revoked_at !== null) return null
  if (kept.isError) return <Failed cause={kept.error} retry={() => kept.refetch()} />
  if (!kept.data) return null
  const { days, [of]: keep } = kept.data
  if (days === 0) return <p className="quiet small">{t('keep.off')}</p>
  const ofCalls = of === 'calls'
  const choice = t(ofCalls ? 'call.keep' : 'exchange.keep')
  return (
    <div className="row">
      <Choice
        label={t.count('keep.days', days, { choice })}
        value={choosing.isPending ? choosing.variables : keep}
        options={choices.map((one) => [
          one,
          ofCalls ? t(`call.keep.${one}`) : t(`exchange.keep.${one}`),
        ])}
        onChange={(one) => choosing.mutate(one)}
      />
      <Wrong cause={choosing.error} />
    </div>
  )
}

interface SideProps {
  readonly title: string
  readonly side: WebhookExchanges['items'][number]['request']
}

/** Headers and body of one direction; JSON is laid out to be read. */
function Side({ title, side: { headers, body, is_cut } }: SideProps) {
  const head = headers.map(([name, value]) => `${name}: ${value}`).join('\n')
  return (
    <Text title={title} body={body} isCut={is_cut}>
      <pre className="scroll" tabIndex={0}>
        {head}
      </pre>
    </Text>
  )
}

interface TextProps {
  readonly title: string
  readonly body: string
  readonly isCut: boolean
  /** Stands before the text. */
  readonly children?: ReactNode
}

export function Text({ title, body, isCut, children }: TextProps) {
  const t = useT()
  const text = laidOut(body)
  return (
    <section>
      <h3 className="small">{title}</h3>
      {children}
      {text !== '' && (
        <div className="copied">
          <pre className="scroll" tabIndex={0}>
            {text}
          </pre>
          <CopyButton text={body} />
        </div>
      )}
      {isCut && <p className="quiet small">{t('exchange.cut')}</p>}
    </section>
  )
}
